#!/usr/bin/env python3
"""`generate`: what is written, what is left alone, and what is refused."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from harness import EXAMPLES, CommandLine


class Generate(CommandLine):
    def generate(self, *words, **options):
        return self.example("generate", *words, **options)

    def file(self, name="Dockerfile"):
        return self.folder / name

    def test_a_rerun_is_byte_equal_and_check_agrees(self):
        first = self.generate("dockerfile", "--json")
        self.expect(first, 0)
        said = first.json()
        self.assertEqual((said["schema"], said["kind"]), ("sagekit.generate/1", "dockerfile"))
        self.assertEqual([(f["path"], f["change"]) for f in said["files"]], [("Dockerfile", "created"), ("sagekit-example.so", "created")])
        text = self.file().read_bytes()
        lines = text.decode().splitlines()
        self.assertEqual(lines[0], "# Made by: sagekit --plugin example generate dockerfile")
        self.assertRegex(lines[1], "^# sagekit-sha256: [0-9a-f]{64}$")
        before = self.file().stat().st_mtime_ns
        self.expect(self.generate("dockerfile"), 0)
        self.assertEqual((self.file().read_bytes(), self.file().stat().st_mtime_ns), (text, before))
        self.expect(self.generate("dockerfile", "--check"), 0)
        self.assertEqual(self.generate("dockerfile", "-o", "-").out.encode(), text)

    def test_another_plan_updates_and_check_says_what(self):
        done = self.generate("dockerfile", "--check")
        self.expect(done, 1, "without --check")
        self.assertIn("would create Dockerfile", done.out)
        self.assertFalse(self.file().exists())
        self.expect(self.generate("dockerfile"), 0)
        text = self.file().read_bytes()
        done = self.generate("dockerfile", "--arch", "9.0", "--check")
        self.expect(done, 1, "without --check")
        self.assertRegex(done.out, r"would update Dockerfile: \+\d+ -\d+ lines")
        self.assertEqual(self.file().read_bytes(), text)
        self.expect(self.generate("dockerfile", "--arch", "9.0"), 0)
        self.assertIn('"9.0"', self.file().read_text())

    def test_what_a_hand_changed_is_kept_unless_forced(self):
        self.expect(self.generate("dockerfile"), 0)
        mine = self.file().read_bytes().replace(b"WORKDIR /work", b"WORKDIR /mine")
        self.file().write_bytes(mine)
        done = self.generate("dockerfile")
        self.expect(done, 1, "GEN004", "changed by hand", "--force")
        self.assertEqual(self.file().read_bytes(), mine)
        self.assertEqual(self.generate("dockerfile", "--check").code, 1)
        self.expect(self.generate("dockerfile", "--check"), 1, "--force instead of --check")
        forced = self.generate("dockerfile", "--force")
        self.expect(forced, 0)
        self.assertIn("overwrote Dockerfile", forced.out)
        self.assertNotIn(b"/mine", self.file().read_bytes())
        # Another's file is no less a person's.
        self.file().write_text("FROM scratch\n")
        self.expect(self.generate("dockerfile"), 1, "GEN004")
        self.assertEqual(self.file().read_text(), "FROM scratch\n")

    def test_what_is_in_the_way_is_named_and_nothing_is_written(self):
        for make in (lambda path: path.mkdir(), lambda path: path.symlink_to("/dev/null"), lambda path: os.mkfifo(path)):
            self.file("out").mkdir()
            make(self.file("out") / "Dockerfile")
            done = self.generate("dockerfile", "-o", "out")
            self.expect(done, 1, "GEN005", "in the way")
            self.assertEqual([p.name for p in self.file("out").iterdir()], ["Dockerfile"])
            self.assertEqual(self.generate("dockerfile", "-o", "out", "--force").code, 1)
            path = self.file("out") / "Dockerfile"
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
            self.file("out").rmdir()
        self.file("plain").write_text("")
        self.assertEqual(self.generate("dockerfile", "-o", "plain").code, 2)

    def test_bad_input(self):
        for words, code, texts in (
                (("dockerfil",), 2, ("dockerfile",)),
                *(((kind, "--cells", "nothing-*"), 4, ("PLN004",)) for kind in ("dockerfile", "github", "slurm", "ansible", "cibuildwheel")),
                (("bake", "--cells", "nothing-*"), 4, ("GEN002",)),
                *(((kind, flag, "x$(touch pwned)\""), 2, (code,)) for kind in ("dockerfile", "github", "slurm")
                  for flag, code in (("--profile", "PLN001"), ("--revision", "PLN002"), ("--naming", "PLN003"))),
                (("ansible", "--profile", "x$(touch pwned)\""), 2, ("PLN001",)),
                *((("ansible", flag, value), 2, ("CLI001", f"generate ansible makes nothing of {flag}", "install --or-build"))
                  for flag, value in (("--naming", "plain"), ("--revision", "main"), ("--backend", "direct"), ("--allow-defect", "x"))),
                (("github", "--source", "so$(touch pwned)`ur\"ce/${{ github.token }}"), 2, ("GEN003", "${{")),
                (("dockerfile", "--profile", "a\nRUN id"), 2, ("GEN003", "line end")),
                *(((word,), 2, ("CLI001", f'did you mean "{kind}"?'))
                  for word, kind in (("docker", "dockerfile"), ("podman", "dockerfile"), ("github-actions", "github"), ("gha", "github"),
                                     ("docker-bake", "bake"), ("requirements", "consumer"), ("playbook", "ansible"), ("SDIST", "sdist"))),
                (("kubernetes",), 2, ("is none of dockerfile, bake", "choose one of them")),
                (("sdist", "-o", "-"), 2, ("CLI001", "no text for stdout", "-o DIR")),
                (("ansible", "--venv", "comfy/venv"), 2, ("GEN003", "is relative", "/opt/comfyui/venv")),
                (("slurm", "--source", "../src repo"), 2, ("GEN003", '--source "../src repo" is relative', "the whole path")),
                *((("ansible", "--source", source), 2, ("GEN003", f'--source "{source}" is relative', "the whole path")) for source in ("../src repo", "~/src")),
                (("slurm", "--shared-store", "~/geteilt ü"), 2, ("GEN003", '--shared-store "~/geteilt ü" is relative', "the whole path")),
                (("consumer", "--release", "https://me:s3cret@example.org/sagekit.release.json"), 2, ("FIL001", "is an address", "curl -LO")),
                *(((kind, "--source", f"https://{user}@example.org/sage.git"), 2, ("GEN003", "--source is an address with a user name or a password"))
                  for kind in ("dockerfile", "bake", "github", "slurm", "ansible") for user in ("me:s3cret", "s3cret", "me:s3/cret", "me:s3@cret")),
                (("dockerfile", "--sagekit", "sagekit @ git+https://me:s3cret@example.org/sagekit"), 2, ("GEN003", "--sagekit")),
                (("dockerfile", "--sagekit", "https://me:s3cret@example.org/sagekit-0.1.0-py3-none-any.whl"), 2, ("GEN003", "--sagekit")),
                (("github", "--runner", "[self-hosted, linux]"), 2, ("GEN003", "one label")),
                (("dockerfile", "--json", "-o", "-"), 2, ("CLI001", "both want stdout")),
                (("dockerfile", "--base", "nvida"), 2, ("GEN006", 'did you mean "nvidia"?')),
                (("dockerfile", "--base", "fedora"), 2, ("GEN006", "nvidia")),
                (("dockerfile", "--base", "debian:12\nRUN id"), 2, ("GEN006",)),
                (("dockerfile", "--base", "debian", "--profile", "all"), 2, ("GEN006", "12.8")),
                (("dockerfile", "--pin", "debian:12-slim"), 2, ("GEN006", "@sha256:")),
                (("dockerfile", "--pin", "other:1@sha256:" + 64 * "a"), 2, ("GEN006", "no file names that image")),
                (("dockerfile", "--source", "../up"), 2, ("GEN003", "build context")),
                (("dockerfile", "--sagekit", "rm -rf"), 2, ("GEN003",)),
                (("dockerfile", "--check", "--force"), 2, ("CLI001",)),
                (("dockerfile", "--sagekit", "gone-1.0-py3-none-any.whl"), 2, ("FIL001",)),
        ):
            with self.subTest(words=words):
                done = self.generate(*words)
                self.expect(done, code, *texts)
                self.assertEqual(list(self.folder.iterdir()), [], "something was written")
                self.assertNotIn("cret", done.err.replace("secret", ""), "the password is shown")

    def test_an_address_without_a_secret_is_written(self):
        for source in ("https://example.org/sage.git", "ssh://git@example.org/sage.git", "https://example.org/~me/@v2/sage.git", "https://example.org:8443/@v2/sage.git"):
            self.expect(self.generate("slurm", "--source", source, "-o", "jobs"), 0)
            self.assertIn(source, self.file("jobs/build.sbatch").read_text())

    def test_a_plugin_given_twice_is_one(self):
        once = self.run_sagekit("--plugin", "sage2", "generate", "bake", "-o", "once")
        self.expect(once, 0)
        self.expect(self.run_sagekit("--plugin", "sage2", "--plugin", "sage2", "generate", "bake", "-o", "twice"), 0)
        self.assertEqual(self.file("once/docker-bake.hcl").read_bytes(), self.file("twice/docker-bake.hcl").read_bytes())

    def test_bake_without_a_name_has_a_group_whatever_profile_was_chosen(self):
        for words in ((), ("--profile", "all")):
            self.expect(self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", "example", "generate", "bake", *words, "-o", "bake", "--force"), 0)
            targets = re.search(r'^group "default" {\n  targets = (\[.*?\])', self.file("bake/docker-bake.hcl").read_text(), re.M | re.S)
            self.assertTrue(targets and json.loads(targets[1]), words)
            # The command for another file's builder stands in no Dockerfile that has no such stage.
            self.assertNotIn("docker build ", self.file("bake/Dockerfile.sagekit").read_text())

    def test_a_target_of_a_bake_file_is_its_cell_with_any_arch_list(self):
        bare = re.compile(r"(-sm\d+[a-z]*)+$")
        for plugin, words in (("sage2", ("--profile", "current", "--cuda", "13.0", "--torch", "2.11")), ("sage2", ("--profile", "default", "--arch", "9.0")), ("example", ("--python", "3.11"))):
            self.expect(self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", plugin, "generate", "bake", *words, "-o", "bake", "--force"), 0)
            targets = re.findall(r'target "([^"]+)" {\n  inherits.*?PROFILE = "(.*?)"\n.*?CELL = "(.*?)"\n.*?PLATFORM = "(.*?)"\n', self.file("bake/docker-bake.hcl").read_text(), re.S)
            self.assertTrue(targets)
            for name, profile, cell, platform in targets:
                for arches in ("", "9.0"):
                    done = self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", plugin, "plan", "--profile", profile, "--cells", cell, "--platform", platform, "--json",
                                            env=self.environment(TORCH_CUDA_ARCH_LIST=arches))
                    self.expect(done, 0)
                    self.assertEqual([bare.sub("", one["id"]) for one in done.json()["cells"]], [bare.sub("", name.replace("_", "."))], done.out)

    def test_one_plugin_at_a_time(self):
        done = self.run_sagekit("--plugin", "sage2", "--plugin", "sage3", "generate", "dockerfile", "-o", "-")
        self.expect(done, 2, "GEN007", "bake")

    def test_overrides_go_along(self):
        (self.folder / "sagekit.toml").write_text('[[overrides]]\nselect = "*-cu130-*"\narch = "9.0"\n')
        self.expect(self.generate("dockerfile", "-o", "out"), 0)
        self.assertIn("--config /opt/overrides.sagekit.toml", self.file("out/Dockerfile").read_text())
        plan = self.example("--config", self.folder / "out" / "overrides.sagekit.toml", "plan", "--json", cwd="/").json()
        self.assertEqual(plan["cells"][0]["arches"], ["9.0"])

    def test_kinds_that_share_a_folder_share_the_overrides(self):
        (self.folder / "sagekit.toml").write_text('[[overrides]]\nselect = "*"\narch = "9.0"\n')
        kinds = ("dockerfile", "bake", "slurm")
        for kind in kinds:
            self.expect(self.generate(kind, "-o", "docker"), 0)
        for kind in kinds:
            self.expect(self.generate(kind, "-o", "docker", "--check"), 0)
        # It is still known for a file of ours, and for one that a hand changed.
        (self.folder / "sagekit.toml").write_text('[[overrides]]\nselect = "*"\narch = "8.0"\n')
        self.expect(self.generate("bake", "-o", "docker"), 0)
        shared = self.file("docker/overrides.sagekit.toml")
        shared.write_text(shared.read_text().replace("8.0", "8.6"))
        self.expect(self.generate("dockerfile", "-o", "docker"), 1, "GEN004", "overrides.sagekit.toml")

    def test_what_stands_below_an_override_goes_along_with_it(self):
        (self.folder / "sagekit.toml").write_text('arch = "8.0;9.0"\nnaming = "plain"\n[[overrides]]\nselect = "*"\narch = "9.0"\nnaming = "local-version"\n')
        wanted = [(cell["arches"], cell["wheel"]) for cell in self.example("plan", "--json").json()["cells"]]
        self.assertEqual(wanted[0][0], ["9.0"])
        for kind, config in (("dockerfile", "overrides.sagekit.toml"), ("slurm", "overrides.sagekit.toml"), ("bake", "overrides.sagekit.toml"),
                             ("github", ".github/sagekit-example/overrides.sagekit.toml")):
            with self.subTest(kind):
                self.expect(self.generate(kind, "-o", kind), 0)
                for path in (path for path in self.file(kind).rglob("*") if path.is_file() and path.suffix not in (".toml", ".so")):
                    for word in ("8.0;9.0", "--arch ", "--naming"):
                        self.assertNotIn(word, path.read_text(), path)
                config = self.file(kind) / config
                self.assertTrue(config.read_text().endswith('\narch = "8.0;9.0"\nnaming = "plain"\n\n[[overrides]]\nselect = ["*"]\narch = "9.0"\nnaming = "local-version"\n'))
                plan = self.example("plan", "--config", config, "--json", cwd="/").json()
                self.assertEqual([(cell["arches"], cell["wheel"]) for cell in plan["cells"]], wanted)
        self.assertIn("--config .github/sagekit-example/overrides.sagekit.toml", self.file("github/.github/workflows/build-wheels-example-linux.yml").read_text())
        # A flag stands above every override, there as here.
        self.expect(self.generate("slurm", "--arch", "8.0", "-o", "flag"), 0)
        self.assertIn("--arch 8.0", self.file("flag/build.sbatch").read_text())
        self.assertNotIn("arch", self.file("flag/overrides.sagekit.toml").read_text().split("[[overrides]]")[1])

    def test_schemes_go_along(self):
        (self.folder / "sagekit.toml").write_text('naming = "ours"\n[[scheme]]\nname = "ours"\nversion = "{version}+ours.cu{cuda_digits}"\nsource = "us"\n')
        self.expect(self.generate("dockerfile", "-o", "out"), 0)
        self.assertIn("--config /opt/overrides.sagekit.toml", self.file("out/Dockerfile").read_text())
        self.assertIn("--naming ours", self.file("out/Dockerfile").read_text())
        plan = self.example("plan", "--config", self.file("out/overrides.sagekit.toml"), "--naming", "ours", "--json", cwd="/").json()
        self.assertIn("+ours.cu", plan["cells"][0]["wheel"])


class Dockerfile(CommandLine):
    def text(self, plugin, *words, **options):
        done = self.run_sagekit("--plugin", plugin, "generate", "dockerfile", "-o", "-", *words, **options)
        self.expect(done, 0)
        return done.out

    def stages(self, text):
        return [line.split()[1:] for line in text.splitlines() if line.startswith("FROM ")]

    def test_the_build_document_s_profile_on_nvidia_s_images(self):
        text = self.text("sage3", "--profile", "sage3-all")
        stages = {stage[2]: stage[0] for stage in self.stages(text)}
        self.assertEqual(stages["sagekit-cu128"], "nvidia/cuda:12.8.1-devel-ubuntu22.04")
        self.assertEqual(stages["sagekit-cu129"], "nvidia/cuda:12.9.1-devel-ubuntu22.04")
        self.assertEqual(stages["builder"], "builder-cu129")
        for python in ("3.10", "3.11", "3.12", "3.13"):
            self.assertIn(f"COPY --from=python:{python}-slim-bookworm", text)
        self.assertEqual(text.count("--cuda 12.8"), 1)

    def test_document_001_by_python_and_cuda(self):
        text = self.text("sage3", "--profile", "sage3-all", "--python", "3.10", "--cuda", "12.8", "--base", "runpod")
        self.assertEqual(self.stages(text)[0][0], "runpod/pytorch:2.8.0-py3.10-cuda12.8.1-cudnn-devel-ubuntu22.04")

    def test_the_arch_list_is_a_variable_in_every_spelling(self):
        for spelling in ("8.6 9.0 12.0+PTX", "8.0;8.6", "compute_80;sm_80;compute_120;sm_120", "12.0"):
            by_flag = self.text("sage2", "--arch", spelling)
            by_variable = self.text("sage2", env=self.environment(TORCH_CUDA_ARCH_LIST=spelling))
            self.assertEqual(by_flag, by_variable)
            self.assertIn(f'ENV TORCH_CUDA_ARCH_LIST="{spelling}"\n', by_flag)
            self.assertNotIn("--arch", by_flag.split("\n", 2)[2])

    def test_a_gpu_is_looked_for_only_when_asked(self):
        self.assertNotIn("nvidia-smi", self.text("sage2"))
        self.assertIn("nvidia-smi", self.text("sage2", "--gpu-check"))

    def test_root_builds_nothing_and_digests_pin(self):
        digest = "debian:12-slim@sha256:" + 64 * "b"
        text = self.text("sage2", "--pin", digest)
        self.assertIn(f"FROM {digest} AS sagekit\n", text)
        self.assertLess(text.index("USER 1000:1000"), text.index(" AS build\n"))
        self.assertNotIn("# syntax=", text)

    def test_windows_cells_are_left_out_and_said(self):
        done = self.run_sagekit("--plugin", "sage3", "generate", "dockerfile", "-o", "-", "--platform", "win_amd64")
        self.expect(done, 4, "GEN002", "Linux")


if __name__ == "__main__":
    unittest.main()

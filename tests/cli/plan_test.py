#!/usr/bin/env python3
"""What plan understands and says: spellings, names of wheels, what is missing and what is needed beside a wheel."""
import unittest

from harness import CommandLine


class Plan(CommandLine):
    def plan(self, *words, plugin="sage2"):
        return self.run_sagekit("--plugin", plugin, "plan", *words)

    def cells(self, *words, **options):
        done = self.plan(*words, "--json", **options)
        self.expect(done, 0)
        return done.json()["cells"]

    def test_a_cell_of_a_platform_that_nobody_named_is_had_by_naming_it(self):
        cell = "example-cu128-python312-linux_aarch64-sm80-sm90ptx"
        done = self.example("plan", "--profile", "all", "--cells", cell)
        self.expect(done, 4, "PLN004", cell, "--platform linux_aarch64 has it")
        self.expect(self.example("plan", "--profile", "all", "--cells", cell, "--platform", "linux_aarch64"), 0)
        done = self.example("plan", "--python", "3.12")
        self.expect(done, 4, "PLN004", "--profile all has it")
        self.assertNotIn("aarch64", done.err)
        self.expect(self.example("plan", "--python", "3.12", "--cells", "*-linux_aarch64-*"), 4, "--profile all --platform linux_aarch64 has it")

    def test_what_a_plan_takes_in_all_is_what_its_shards_take(self):
        """GPU code that several steps share is made once, and counted once."""
        for plugin, words in (("sage2", ("--profile", "current")), ("sage2-stable", ("--profile", "everywhere")), ("sage3", ("--profile", "current")),
                              ("sage2", ("--profile", "current", "--cuda", "13.0", "--platform", "linux_aarch64,linux_x86_64"))):
            with self.subTest(plugin=plugin, words=words):
                plan = self.plan(*words, "--steps", "--json", plugin=plugin).json()
                (shard,) = self.plan(*words, "--shards", "1", "--json", plugin=plugin).json()["shards"]
                links = sum(step["cpu_seconds_estimate"] for step in plan["steps"] if step["depends"])
                self.assertAlmostEqual(plan["totals"]["cpu_seconds_estimate"], shard["cpu_seconds_estimate"] + links, delta=0.2)
                self.assertLess(plan["totals"]["cpu_seconds_estimate"], 0.999 * sum(step["cpu_seconds_estimate"] for step in plan["steps"]))

    def test_versions_and_gpus_are_taken_as_ids_and_file_names_write_them(self):
        (cell,) = self.cells("--profile", "current", "--torch", "torch2.11", "--cuda", "cu130", "--python", "cp312",
                             "--arch", "RTX 5090")
        self.assertEqual((cell["torch"], cell["cuda"], cell["python"]), ("2.11.0", "13.0", "3.12"))
        self.assertEqual(cell["arches"], ["12.0a"])
        plain = self.cells("--profile", "current", "--torch", "2.11", "--cuda", "13.0", "--python", "312", "--arch", "12.0")
        self.assertEqual(plain, [cell])
        self.assertEqual(self.cells("--cuda", "cu13", "--arch", "A100;H100")[0]["arches"], ["8.0", "9.0a"])

    def test_a_mistake_is_quoted_as_typed_with_what_there_is(self):
        self.expect(self.plan("--cuda", "cu118"), 4, "no CUDA cu118; it has 12.8")
        self.expect(self.example("plan", "--arch", "RTX 5090"), 2, "PLN006", 'no arch 12.0, which "RTX 5090" asks for')
        self.expect(self.plan("--arch", "rtx 5095"), 2, '"rtx 5095"', "RTX 5090")
        self.expect(self.plan("--arch", "4090", plugin="sage3"), 2, "buildable: 10.0, 12.0, 12.1")
        self.expect(self.plan("--arch", "RTX 6000"), 2, "ARC006", "Quadro RTX 6000 (7.5)")

    def test_a_cell_outside_the_profile_names_one_that_has_it(self):
        self.expect(self.plan("--cells", "sage2-pytorch213-cu130-python312"), 4, "--profile current has it")

    def test_cells_are_in_the_order_of_versions(self):
        cells = self.cells("--profile", "sage3-all", plugin="sage3")
        torches = [[int(n) for n in cell["torch"].split(".")] for cell in cells]
        self.assertEqual(torches, sorted(torches))

    def test_two_arch_sets_of_a_cell_have_two_names(self):
        one = ("--torch", "2.11", "--cuda", "13.0", "--python", "3.12", "--profile", "current")
        names = [self.cells(*one, *arch)[0]["wheel"] for arch in ((), ("--arch", "9.0"), ("--arch", "12.0"))]
        self.assertEqual(len(set(names)), 3)
        self.assertIn(".sm90a-cp312", names[1])
        self.assertNotIn(".sm", names[0])

    def test_two_wheels_of_one_name_are_refused(self):
        # The example needs no torch, which that scheme says: plan and build refuse what name and retag refuse.
        for verb in ("plan", "build"):
            self.expect(self.example(verb, "--naming", "build-tag"), 2, "NAM011", "it lacks what the scheme says")
        done = self.plan("--profile", "current", "--naming", "plain", "--python", "3.12")
        self.expect(done, 2, "PLN012", "sage2-pytorch211-", "--naming default", "--cells")
        done = self.run_sagekit("--plugin", "sage2", "coverage", ".", "--profile", "current", "--naming", "plain", "--python", "3.12")
        self.expect(done, 2, "PLN012", "--naming default", "--cells")
        self.assertNotIn("-o", done.err)  # which coverage has not

    def test_a_companion_is_shown(self):
        shown = self.plan(plugin="sm121")
        self.expect(shown, 0)
        self.assertIn("triton is needed beside the wheel", shown.out)
        self.assertIn("source: ", shown.out)
        for line in shown.out.split("triton is needed beside")[1].split("source: ")[0].splitlines():
            self.assertLessEqual(len(line), 80, line)
        (companion,) = self.plan("--json", plugin="sm121").json()["companions"]
        self.assertEqual(companion["requires_dist"], "triton>=3.6")
        self.assertEqual(self.plan("--json").json()["companions"], [])

    def test_nothing_is_promised_that_cannot_be_fetched(self):
        for flags in (("--offline",), ("--locked",)):
            done = self.plan("--toolchain", "wheels", *flags)
            self.expect(done, 0)
            self.assertNotIn("fetched", done.out)
            self.assertIn("0 can be built here now, 0 after fetching", done.out)

    def test_a_source_that_is_not_here_yet_is_fetched_by_build(self):
        done = self.example("plan")
        self.expect(done, 0)
        self.assertRegex(done.out, r"1 cell: 0 can be built here now, 1 after fetching, 0 not\n  fetched by build: .*the source")
        done = self.example("plan", "--offline")
        self.expect(done, 0)
        self.assertIn("0 can be built here now, 0 after fetching, 1 not", done.out)
        self.assertIn("--offline allows no connection", " ".join(done.out.split()))

    def test_all_that_is_missing_is_listed(self):
        for cell in self.cells("--toolchain", "wheels", "--offline"):
            kinds = [lack["kind"] for lack in cell["lacks"]]
            self.assertIn("nvcc", kinds)
            self.assertIn("torch", kinds)
            self.assertEqual(cell["why_not"], cell["lacks"][0]["message"])

    def test_what_toolchain_leaves_out_is_not_said_to_be_lacking_on_this_machine(self):
        for source in ("wheels", "redist"):
            for cell in self.cells("--toolchain", source, "--offline"):
                for lack in cell["lacks"]:
                    if lack["kind"] in ("nvcc", "torch"):
                        self.assertIn(f" from --toolchain {source}; there is none from there", lack["message"])
                        self.assertTrue(lack["hint"].startswith("without --toolchain installed and fetched ones count, too"), lack)

    def test_with_locked_only_pinned_ones_are_said_to_count(self):
        for cell in self.cells("--toolchain", "wheels", "--locked", "--lock", "ci.lock"):
            hints = [lack["hint"] for lack in cell["lacks"] if lack["kind"] in ("nvcc", "torch")]
            self.assertEqual(len(hints), 2)
            for hint in hints:
                self.assertTrue(hint.startswith("without --toolchain installed ones and fetched ones that ci.lock pins count, too; "), hint)


if __name__ == "__main__":
    unittest.main()

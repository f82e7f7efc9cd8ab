"""The few calls of GitHub's API that gh makes for releases, over TLS on 127.0.0.1, in memory.

    with GithubServer(folder) as github:
        ... gh with github.environment ...; github.releases["v1"]["assets"]; github.cut_next_upload()
"""
import fnmatch
import http.server
import json
import pathlib
import re
import ssl
import subprocess
import sys
import threading
import urllib.parse

from loopback_server import LoopbackServer

TOKEN = "ghp_secretsecretsecret"


class GithubServer(LoopbackServer):
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.cert, key = folder / "cert.pem", folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", self.cert,
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
        self.releases, self.log, self.ids, self.cuts = {}, [], 0, 0
        self.hold, self.held, self.go = None, threading.Event(), threading.Event()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.github = self
        self.host = f"localhost:{self.server.server_address[1]}"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.serve(self.server)
        self.environment = {"GH_HOST": self.host, "GH_ENTERPRISE_TOKEN": TOKEN, "SSL_CERT_FILE": str(self.cert), "GH_CONFIG_DIR": str(folder / "gh"), "NO_PROXY": "*"}

    def cut_next_upload(self):
        """The next wheel that is uploaded breaks off: an error, and a file that is not whole."""
        self.cuts = 1

    def hold_upload(self, pattern):
        """The next upload of such a name stops with half of it there; `held` says when, `go` lets the connection end."""
        self.hold = pattern
        self.held.clear()
        self.go.clear()

    def assets(self, tag):
        return {asset["name"]: asset["content"] for asset in self.releases[tag]["assets"]}

    def release_json(self, release):
        base = f"https://{self.host}/api/v3/repos/o/r/releases"
        return {"id": release["id"], "tag_name": release["tag"], "name": release["name"], "body": release["body"], "draft": release["draft"],
                "prerelease": False, "html_url": f"https://{self.host}/o/r/releases/tag/{release['tag']}", "url": f"{base}/{release['id']}",
                "upload_url": f"https://{self.host}/api/uploads/repos/o/r/releases/{release['id']}/assets{{?name,label}}",
                "created_at": "2026-11-22T08:00:00Z", "published_at": "2026-11-22T08:00:00Z", "tarball_url": "", "zipball_url": "",
                "target_commitish": "main", "author": {"login": "me"}, "assets": [self.asset_json(asset) for asset in release["assets"]]}

    def asset_json(self, asset):
        return {"id": asset["id"], "node_id": str(asset["id"]), "name": asset["name"], "size": len(asset["content"]), "state": asset["state"], "label": "",
                "content_type": "application/octet-stream", "download_count": 0, "created_at": "2026-11-22T08:00:00Z", "updated_at": "2026-11-22T08:00:00Z",
                "browser_download_url": "", "url": f"https://{self.host}/api/v3/repos/o/r/releases/assets/{asset['id']}"}


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # gh asks twice at once and hangs up on the slower answer
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, value=None, kind="application/json"):
        body = value if isinstance(value, bytes) else b"" if value is None else json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_any(self):
        github = self.server.github
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urllib.parse.urlsplit(self.path)
        path, query = address.path, dict(urllib.parse.parse_qsl(address.query))
        github.log.append((self.command, self.path, self.headers.get("Authorization", "")))
        if TOKEN not in self.headers.get("Authorization", ""):
            return self.answer(401, {"message": "Bad credentials"})
        if path == "/api/graphql":
            return self.answer(200, {"data": {"repository": {"release": None}}})
        if match := re.fullmatch(r"/api/v3/repos/o/r/releases/tags/(.+)", path):
            release = github.releases.get(urllib.parse.unquote(match[1]))
            return self.answer(200, github.release_json(release)) if release else self.answer(404, {"message": "Not Found"})
        if path == "/api/v3/repos/o/r/releases" and self.command == "POST":
            asked = json.loads(body)
            github.ids += 1
            release = {"id": github.ids, "tag": asked["tag_name"], "name": asked.get("name", ""), "body": asked.get("body", ""),
                       "draft": asked.get("draft", False), "assets": []}
            github.releases[release["tag"]] = release
            return self.answer(201, github.release_json(release))
        if path == "/api/v3/repos/o/r/releases":
            return self.answer(200, [github.release_json(release) for release in github.releases.values()])
        by_id = {release["id"]: release for release in github.releases.values()}
        if match := re.fullmatch(r"/api/v3/repos/o/r/releases/(\d+)", path):
            release = by_id[int(match[1])]
            if self.command == "PATCH":
                release["body"] = json.loads(body).get("body", release["body"])
            return self.answer(200, github.release_json(release))
        if match := re.fullmatch(r"/api/uploads/repos/o/r/releases/(\d+)/assets", path):
            assets, name = by_id[int(match[1])]["assets"], query["name"]
            if any(asset["name"] == name for asset in assets):
                return self.answer(422, {"message": "Validation Failed", "errors": [{"code": "already_exists"}]})
            github.ids += 1
            if github.hold and fnmatch.fnmatch(name, github.hold):
                github.hold = None
                assets.append({"id": github.ids, "name": name, "content": body[:len(body) // 2], "state": "starter"})
                github.held.set()
                github.go.wait(60)
                self.close_connection = True
                return None
            cut = github.cuts > 0 and name.endswith(".whl")
            asset = {"id": github.ids, "name": name, "content": body[:len(body) // 2] if cut else body, "state": "starter" if cut else "uploaded"}
            assets.append(asset)
            if cut:
                github.cuts -= 1
                return self.answer(422, {"message": f"broken, said {TOKEN}"})
            return self.answer(201, github.asset_json(asset))
        if match := re.fullmatch(r"/api/v3/repos/o/r/releases/assets/(\d+)", path):
            for release in by_id.values():
                for asset in release["assets"]:
                    if asset["id"] == int(match[1]):
                        if self.command == "DELETE":
                            release["assets"].remove(asset)
                            return self.answer(204)
                        return self.answer(200, asset["content"], "application/octet-stream")
        return self.answer(404, {"message": "Not Found"})

    do_GET = do_HEAD = do_POST = do_PATCH = do_DELETE = do_any

"""The few calls of Hugging Face's hub that `hf upload` and `hf download` make, on 127.0.0.1, in memory.

    with HubServer() as hub:
        ... hf with hub.environment ...; hub.files["v1/tiny.whl"]; hub.cut_next_upload()
"""
import base64
import hashlib
import http.server
import json
import re
import urllib.parse

from loopback_server import LoopbackServer

TOKEN = "hf_verysecretverysecret"


class HubServer(LoopbackServer):
    def __init__(self):
        self.files, self.objects, self.log, self.commits, self.cuts = {}, {}, [], 0, 0
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.hub = self
        self.url = "http://127.0.0.1:{}".format(self.server.server_address[1])
        self.serve(self.server)
        self.environment = {"HF_ENDPOINT": self.url, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1",
                            "NO_PROXY": "*", "no_proxy": "*"}

    def cut_next_upload(self):
        self.cuts = 1


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, value=None, **headers):
        body = value if isinstance(value, bytes) else b"" if value is None else json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/octet-stream" if isinstance(value, bytes) else "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_any(self):
        hub = self.server.hub
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        hub.log.append((self.command, path, self.headers.get("Authorization", "")))
        commit = hashlib.sha1(b"%d" % hub.commits).hexdigest()
        if path.startswith("/lfs/"):  # as a store elsewhere: the address is the secret
            if hub.cuts > 0:
                hub.cuts -= 1
                return self.answer(403, {"error": f"broken, said {TOKEN}"})
            hub.objects[path[5:]] = body
            return self.answer(200, {})
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, {"error": "Invalid credentials"})
        if path == "/api/repos/create":
            return self.answer(200, {"url": f"{hub.url}/me/wheels", "name": "me/wheels"})
        if path == "/api/whoami-v2":
            return self.answer(200, {"name": "me", "type": "user", "auth": {"accessToken": {"role": "write"}}})
        if re.fullmatch(r"/api/models/me/wheels(/revision/main)?", path):
            return self.answer(200, {"id": "me/wheels", "sha": commit, "siblings": [{"rfilename": name} for name in hub.files], "private": False})
        if path == "/api/models/me/wheels/preupload/main":
            return self.answer(200, {"files": [{"path": file["path"], "uploadMode": "lfs" if file["path"].endswith(".whl") else "regular", "shouldIgnore": False}
                                               for file in json.loads(body)["files"]]})
        if path == "/me/wheels.git/info/lfs/objects/batch":
            return self.answer(200, {"transfer": "basic", "objects": [
                {"oid": one["oid"], "size": one["size"], "actions": {"upload": {"href": f"{hub.url}/lfs/{one['oid']}"}}} for one in json.loads(body)["objects"]]})
        if path == "/api/models/me/wheels/commit/main":
            for line in body.splitlines():
                row = json.loads(line)
                if row["key"] == "file":
                    hub.files[row["value"]["path"]] = base64.b64decode(row["value"]["content"])
                if row["key"] == "lfsFile":
                    hub.files[row["value"]["path"]] = hub.objects[row["value"]["oid"]]
            hub.commits += 1
            commit = hashlib.sha1(b"%d" % hub.commits).hexdigest()
            return self.answer(200, {"commitUrl": f"{hub.url}/me/wheels/commit/{commit}", "commitOid": commit, "hookOutput": ""})
        if match := re.fullmatch(r"/me/wheels/resolve/[^/]+/(.+)", path):
            if match[1] not in hub.files:
                return self.answer(404, {"error": "Entry not found"}, X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
            content = hub.files[match[1]]
            return self.answer(200, content, ETag='"' + hashlib.sha1(content).hexdigest() + '"', X_Repo_Commit=commit)
        return self.answer(404, {"error": "Not found"}, X_Error_Code="RepoNotFound")

    do_GET = do_HEAD = do_POST = do_PUT = do_any

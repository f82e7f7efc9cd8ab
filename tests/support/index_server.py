#!/usr/bin/env python3
"""A package index on 127.0.0.1 for tests: PEP 503 and 691 pages, ranges, a log of every request, and faults on demand.

    with IndexServer() as index:
        index.add("torch", "torch-2.11.0-...whl", content)
        index.fault("*.whl", status(503), times=1)
        ... index.url ...; index.log; index.moved("*.whl")

Run by hand it serves a folder of wheels: index_server.py FOLDER
"""
import base64
import dataclasses
import fnmatch
import hashlib
import html
import http.server
import json
import pathlib
import re
import socket
import sys
import threading
import time
import urllib.parse

JSON = "application/vnd.pypi.simple.v1+json"
HTML = "application/vnd.pypi.simple.v1+html"
PORTAL = (b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Company network</h1><form action='/login' method='post'>"
          b"<input name='user'><input name='password' type='password'></form><p><a href='/terms'>Terms of use</a></p></body></html>")


@dataclasses.dataclass
class Asked:
    """One request and what became of it."""
    method: str
    path: str
    range: str
    authorization: str
    host: str
    accept: str
    agent: str = ""
    status: int = 0
    sent: int = 0  # bytes of content that went out


@dataclasses.dataclass
class File:
    content: bytes
    kind: str = "application/octet-stream"


# ---- faults: callables (handler, resource) -> True when they answered

def status(code, body=b"no\n", kind="text/plain", **headers):
    """Headers by keyword, `_` for `-`: status(429, Retry_After="1")."""
    named = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    return lambda handler, file: handler.answer(code, body, kind, named)


def portal():
    """What a proxy that wants a login says to everything: 200 and a page."""
    return lambda handler, file: handler.answer(200, PORTAL, "text/html; charset=utf-8")


def redirect(location, code=302):
    """`location` may hold {path}."""
    return lambda handler, file: handler.answer(code, b"", "text/plain", {"Location": location.format(path=handler.path)})


def no_ranges():
    return lambda handler, file: handler.answer(200, file.content, file.kind, {"Accept-Ranges": "none"})


def lying_range(shift=0, total=0, length=0):
    """206 whose Content-Range (by `shift` and `total`) or whose content (by `length`) is not what was asked for."""
    def answer(handler, file):
        asked = handler.asked_range(len(file.content))
        if asked is None:
            return False
        first, last = asked
        body = file.content[first:last + 1]
        body = body[:length] if length < 0 else body
        size = len(file.content) + total
        return handler.answer(206, body, file.kind, {"Content-Range": f"bytes {first + shift}-{last + shift}/{size}"})
    return answer


def other_bytes(change):
    """Right framing, wrong content: `change(content)` is what ranges are cut from."""
    return lambda handler, file: handler.serve(File(change(file.content), file.kind))


def cut(after=0):
    """Announces all of it and closes the connection after so many bytes of content."""
    return lambda handler, file: handler.serve(file, stop_after=after)


def stall(after=0, seconds=60):
    """Sends so many bytes and then nothing more."""
    return lambda handler, file: handler.serve(file, stop_after=after, hold=seconds)


def hang_up():
    """Closes without any answer."""
    def answer(handler, file):
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)
        return True
    return answer


def delay(seconds):
    def answer(handler, file):
        handler.server.index.closing.wait(seconds)
        return False
    return answer


def slow(bytes_per_second):
    return lambda handler, file: handler.serve(file, pace=bytes_per_second)


class Fault:
    def __init__(self, pattern, action, times, skip):
        self.pattern, self.action, self.times, self.skip = pattern, action, times, skip
        self.met = 0


class IndexServer:
    def __init__(self, address="127.0.0.1", forms=("json", "html"), credentials="", size_in_json=True):
        self.forms, self.credentials, self.size_in_json = forms, credentials, size_in_json
        self.log, self.faults, self.projects, self.files = [], [], {}, {}
        self.lock, self.closing = threading.Lock(), threading.Event()
        self.server = Server((address, 0), Handler)
        self.server.index = self
        self.host = "{}:{}".format(*self.server.server_address)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if not self.closing.is_set():
            self.closing.set()
            self.server.shutdown()
            self.server.server_close()
            self.thread.join()

    @property
    def base(self):
        return f"http://{self.host}"

    @property
    def url(self):
        """With the credentials, when there are any, as people write them into --index-url."""
        return f"http://{self.credentials + '@' if self.credentials else ''}{self.host}/simple"

    # ---- what it has

    def add(self, project, name, content, sha256=None, size=None, yanked=None, requires_python=">=3", host=""):
        """`sha256`, `size`: what the page says, when it is not the truth. `host`: another server that has the file."""
        with self.lock:
            self.files[f"/files/{name}"] = File(content)
            self.projects.setdefault(project, {})[name] = {
                "filename": name, "url": f"{host}/files/{urllib.parse.quote(name)}", "sha256": sha256 or hashlib.sha256(content).hexdigest(),
                "size": len(content) if size is None else size, "yanked": yanked, "requires-python": requires_python}

    def add_all(self, packages, **more):
        for project, name, content in packages:
            self.add(project, name, content, **more)

    def swap(self, name, content):
        """Other bytes under the same address; the page keeps its hash and size."""
        self.files[f"/files/{name}"] = File(content)

    def content(self, name):
        return self.files[f"/files/{name}"].content

    def put(self, path, content, kind="application/octet-stream"):
        self.files[path] = File(content, kind)

    def names(self, pattern="*"):
        return sorted(n for files in self.projects.values() for n in files if fnmatch.fnmatch(n, pattern))

    # ---- what it does wrong, and what it was asked

    def fault(self, pattern, action, times=None, skip=0):
        """For paths that match; after `skip` of them, for `times` of them (None: for good)."""
        self.faults.append(Fault(pattern, action, times, skip))

    def mend(self):
        self.faults.clear()

    def due_fault(self, path):
        with self.lock:
            for fault in self.faults:
                if not fnmatch.fnmatch(path, fault.pattern):
                    continue
                fault.met += 1
                if fault.met > fault.skip and (fault.times is None or fault.met <= fault.skip + fault.times):
                    return fault.action
        return None

    def asked(self, pattern="*"):
        return [a for a in self.log if fnmatch.fnmatch(a.path, pattern)]

    def moved(self, pattern="*"):
        return sum(a.sent for a in self.asked(pattern))

    def forget(self):
        self.log.clear()

    # ---- pages

    def page(self, project, accept):
        """(content, type) of a project's page, or nothing."""
        if project not in self.projects:
            return None
        files = list(self.projects[project].values())
        as_json = "json" in self.forms and (JSON in accept or "html" not in self.forms)
        if as_json:
            rows = []
            for f in files:
                row = {"filename": f["filename"], "url": f["url"] if f["url"].startswith("http") else ".." + "/.." + f["url"],
                       "hashes": {"sha256": f["sha256"]}, "requires-python": f["requires-python"], "yanked": f["yanked"] or False}
                rows.append(row | ({"size": f["size"]} if self.size_in_json else {}))
            return json.dumps({"meta": {"api-version": "1.1"}, "name": project, "versions": [], "files": rows}).encode(), JSON
        lines = ["<!DOCTYPE html><html><head><meta name='pypi:repository-version' content='1.0'><title>Links</title></head><body>"]
        for f in files:
            yanked = f' data-yanked="{html.escape(f["yanked"])}"' if f["yanked"] else ""
            address = f["url"] if f["url"].startswith("http") else "../.." + f["url"]
            lines.append(f'<a href="{html.escape(address)}#sha256={f["sha256"]}" data-requires-python="{html.escape(f["requires-python"])}"{yanked}>'
                         f'{html.escape(f["filename"])}</a><br/>')
        return "\n".join([*lines, "</body></html>\n"]).encode(), HTML if HTML in accept else "text/html; charset=utf-8"


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):  # a client that went away is what tests do
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        index = self.server.index
        self.path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        get = self.headers.get
        self.entry = Asked(self.command, self.path, get("Range", ""), get("Authorization", ""), get("Host", ""), get("Accept", ""), get("User-Agent", ""))
        with index.lock:
            index.log.append(self.entry)
        if index.credentials:
            wanted = "Basic " + base64.b64encode(urllib.parse.unquote(index.credentials).encode()).decode()
            if self.entry.authorization != wanted:
                self.answer(401, b"who are you?\n", "text/plain", {"WWW-Authenticate": 'Basic realm="index"'})
                return
        file = self.find()
        action = index.due_fault(self.path)
        if action is not None and action(self, file or File(b"")):
            return
        if file is None:
            self.answer(404, b"not here\n", "text/plain")
        elif self.path.startswith("/simple/"):
            self.answer(200, file.content, file.kind)
        else:
            self.serve(file)

    def find(self):
        page = re.fullmatch(r"/simple/([^/]+)/?", self.path)
        if not page:
            return self.server.index.files.get(self.path)
        found = self.server.index.page(page[1], self.headers.get("Accept", ""))
        return File(*found) if found else None

    def asked_range(self, size):
        """(first, last) of a single range of RFC 9110, cut to what there is; None = not asked for, or nonsense."""
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not match or match[0] == "bytes=-" or not size:
            return None
        if not match[1]:
            return max(0, size - int(match[2])), size - 1
        first = int(match[1])
        return (first, min(int(match[2]) if match[2] else size - 1, size - 1)) if first < size else None

    def serve(self, file, **how):
        """The file or the asked part of it."""
        tag = '"' + hashlib.sha256(file.content).hexdigest()[:16] + '"'
        same = {"ETag": tag, "Accept-Ranges": "bytes"}
        condition = self.headers.get("If-Range")
        asked = self.asked_range(len(file.content)) if condition in (None, tag) else None
        if asked:
            first, last = asked
            part = {"Content-Range": f"bytes {first}-{last}/{len(file.content)}"}
            return self.answer(206, file.content[first:last + 1], file.kind, same | part, **how)
        if self.headers.get("Range") and condition in (None, tag):
            return self.answer(416, b"", file.kind, {"Content-Range": f"bytes */{len(file.content)}"})
        return self.answer(200, file.content, file.kind, same, **how)

    def answer(self, code, body, kind, headers=None, stop_after=None, hold=0, pace=0):
        self.entry.status = code
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return True
        whole = body if stop_after is None else body[:stop_after]
        step = max(1, pace // 50) if pace else max(1, len(whole))
        for at in range(0, len(whole), step):
            self.wfile.write(whole[at:at + step])
            self.entry.sent += len(whole[at:at + step])
            if pace and self.server.index.closing.wait(0.02):
                break
        if stop_after is not None and (stop_after < len(body) or not body):
            self.wfile.flush()
            self.server.index.closing.wait(hold)
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        return True


if __name__ == "__main__":
    server = IndexServer()
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.whl")):
        server.add(path.name.split("-")[0].replace("_", "-").lower(), path.name, path.read_bytes())
    print(server.url, flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        server.close()

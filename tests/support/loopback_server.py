"""A server on 127.0.0.1 for the length of a with statement."""
import threading


class LoopbackServer:
    def serve(self, server):
        """Begins to answer; `server` is closed when the with statement ends."""
        self.server = server
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

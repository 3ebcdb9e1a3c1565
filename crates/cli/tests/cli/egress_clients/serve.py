# Serves the folder SITE/served over HTTP and HTTPS at an address that looks public, and over HTTP at the loopback.
# Beside files, it tells what it was sent: GET and POST of /echo; and /long comes in the part that is asked for.
import base64, http.server, os, random, ssl, sys, threading

SITE, ADDRESS = sys.argv[1], sys.argv[2]
SECRET = open(os.path.join(SITE, "token")).read().strip()
KEYS = ["Bearer " + SECRET, "token " + SECRET, "Basic " + base64.b64encode(("me:" + SECRET).encode()).decode()]
LONG = bytes(random.Random(7).randrange(256) for _ in range(300000))
os.chdir(os.path.join(SITE, "served"))


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def tell(self, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def is_let_in(self):
        """What is below /closed is for whoever has the secret."""
        if not self.path.startswith("/closed/"):
            return True
        self.path = self.path[len("/closed"):]
        if self.headers["Authorization"] in KEYS:
            return True
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Basic realm=closed")
        self.send_header("Content-Length", "0")
        self.end_headers()
        return False

    def do_GET(self):
        if not self.is_let_in():
            return
        if self.path == "/whoami":
            return self.tell("who has it, %s\n" % self.headers["Authorization"])
        if self.path == "/echo":
            return self.tell("%s %s\n" % (self.command, self.headers["Host"]))
        if self.path == "/long":
            return self.tell_part()
        super().do_GET()

    def tell_part(self):
        first, last = 0, len(LONG) - 1
        wanted = self.headers["Range"]
        if wanted:
            begin, _, end = wanted.removeprefix("bytes=").partition("-")
            first, last = int(begin), int(end or last)
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (first, last, len(LONG)))
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.write(LONG[first:last + 1])

    def do_POST(self):
        if self.headers["Transfer-Encoding"] == "chunked":
            body = b""
            while length := int(self.rfile.readline(), 16):
                body += self.rfile.read(length)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.is_let_in():
            return
        self.tell("%s %d\n" % (self.command, len(body)))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def serve(address, port, tls):
    server = Server((address, port), Handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(SITE, "server.pem"), os.path.join(SITE, "server.key"))
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=False).start()


serve(ADDRESS, 80, False)
serve(ADDRESS, 443, True)
serve(ADDRESS, 8443, True)
serve("127.0.0.1", 9000, False)
open(os.path.join(SITE, "ready"), "w").close()

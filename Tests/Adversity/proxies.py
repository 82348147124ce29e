"""nginx and HAProxy in front of a task-server, with the configurations of deploy/, and how many requests each has forwarded."""
import re
import socket
import subprocess
import threading

from programs import ROOT, ask, free_port, wait_until


class Direct:
    """No proxy: clients reach the server itself."""

    name, forwarded = "directly", None

    def __init__(self, server, folder):
        self.port = server.port

    def close(self):
        pass


class Proxy:
    """A proxy process that prints one line for each request that it forwarded or answered."""

    def __init__(self, server, folder):
        self.port, self.forwarded, self.lines = free_port(), 0, []
        command = self.configure(server, folder)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        threading.Thread(target=self._follow, daemon=True).start()
        wait_until(f"{self.name} answers", 30, self._answers)

    def _answers(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended: {self.lines[-5:]}")
        return ask(self.port, "GET", "/healthz")[0] == 200

    def _follow(self):
        with self.process.stdout as lines:
            for line in lines:
                self.lines.append(line.decode(errors="replace").rstrip())
                self.forwarded += self.count(self.lines[-1])

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class NGINX(Proxy):
    name = "nginx"

    def configure(self, server, folder):
        site = (ROOT / "deploy/nginx/tasks.conf").read_text()
        self.plain_port, self.secure_port, pair = free_port(), free_port(), f"{folder}/nginx.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=tasks", "-keyout", pair, "-out", f"{pair}.crt"],
            check=True, capture_output=True)
        # In clear, too, for the tests that send bytes.
        secure = f"listen 127.0.0.1:{self.port}; listen 127.0.0.1:{self.secure_port} ssl;"
        site = re.sub(r" +listen \[::\]:.*\n", "", site).replace("listen 443 ssl;", secure)
        site = site.replace("listen 80;", f"listen 127.0.0.1:{self.plain_port};")
        site = re.sub(r"/etc/letsencrypt/live/tasks.example.com/(fullchain|privkey).pem",
                      lambda name: f"{pair}.crt" if name[1] == "fullchain" else pair, site)
        site = site.replace("127.0.0.1:3000", f"127.0.0.1:{server.port}")
        site = site.replace("/var/log/nginx/tasks.log", "/dev/stdout").replace("keepalive 16;", "keepalive 1;")
        paths = "\n".join(f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        path = f"{folder}/nginx.conf"
        with open(path, "w") as file:
            file.write(f"daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log /dev/null;\nevents {{}}\n"
                       f"http {{\n{paths}\n{site}\n}}\n")
        return ["/usr/sbin/nginx", "-p", folder, "-e", "/dev/null", "-c", path]

    @staticmethod
    def count(line):
        return len(re.findall(r"\b\d{3}\b", line.partition("upstream=")[2]))


class HAProxy(Proxy):
    name = "HAProxy"

    def configure(self, server, folder):
        """One server in place of three, without the checks of its health, which would be counted; all clients share connections."""
        text = re.sub(r" +(default-server|option httpchk|http-check|option dontlog-normal).*\n", "", self.deployed([server]))
        return self.command(text.replace("global\n", "global\n    nbthread 1\n").replace("defaults\n", "defaults\n    http-reuse always\n"), folder)

    def deployed(self, servers):
        """The configuration of deploy/ for these servers, with ports of this machine in place of names of containers."""
        text = (ROOT / "deploy/haproxy/haproxy.cfg").read_text()
        text = re.sub(r"resolvers containers\n(    .*\n)+| +default-server resolvers .*\n", "", text)
        for number, server in enumerate(servers, 1):
            text = text.replace(f"task-server-{number}:3000", f"127.0.0.1:{server.port}")
        text = re.sub(r" +server .*:3000\n", "", text)
        return text.replace("bind :3000", f"bind 127.0.0.1:{self.port}").replace("bind 127.0.0.1:3003", f"bind 127.0.0.1:{free_port()}")

    @staticmethod
    def command(text, folder):
        path = f"{folder}/haproxy.cfg"
        with open(path, "w") as file:
            file.write(text)
        return ["/usr/sbin/haproxy", "-db", "-f", path]

    @staticmethod
    def count(line):
        found = re.search(r" \S+/task-server-1 .*retries=\+?(\d+)", line)
        return 1 + int(found[1]) if found else 0


class Balancer(HAProxy):
    """In front of two or three servers, with the checks of their health. It prints a line for what went wrong only."""

    def configure(self, servers, folder):
        self.orders = f"{folder}/haproxy.sock"
        return self.command(self.deployed(servers).replace("global\n", f"global\n    stats socket {self.orders} level admin\n"), folder)

    def order(self, words):
        """Tells HAProxy what an operator would by `socat`."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.orders)
            connection.sendall(words.encode() + b"\n")
            if answer := connection.recv(4096).strip():
                raise RuntimeError(f"HAProxy answered {words!r} with {answer}")

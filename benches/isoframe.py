"""The one place that knows how Isoframe is called: `bench`, `render` and `serve`."""
import http.client
import json
import os
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from process import run

LAVAPIPE = {"VK_ICD_FILENAMES": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
            "VK_DRIVER_FILES": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"}


class Isoframe:
    def __init__(self, binary):
        self.binary = Path(binary)

    def missing(self):
        return not os.access(self.binary, os.X_OK)

    def bench(self, description, backend="cpu", outputs="color", timeout_s=300):
        """Warm frames in memory, in one process; the dictionary has `median_ms` and `max_rss_bytes`."""
        light = description["light"]
        command = [
            self.binary, "bench", "--scene", description["scene"], "--size", "{}x{}".format(*description["size"]),
            "--samples", description["samples"], f"--camera={numbers(description['camera'])}",
            "--yfov", description["yfov"], f"--light-direction={numbers(light['direction'])}",
            "--backend", backend, "--outputs", outputs, "--json",
        ]                                            # `=` where a value may begin with a minus
        if description["environment"]:
            command += ["--env", description["environment"]]
        if backend == "wgpu":                        # a software adapter is only taken by name
            command += ["--adapter", "llvmpipe"]
        done = run(command, env=LAVAPIPE if backend == "wgpu" else {}, timeout_s=timeout_s)
        return last_json(done.output) | {"max_rss_bytes": done.max_rss_bytes, "wall_s": done.wall_s}

    def render(self, scene, output, size):
        """One whole process from scene to PNG on disk."""
        return run([self.binary, "render", scene, "-o", output, "--size", "{}x{}".format(*size)], timeout_s=120)

    @contextmanager
    def serve(self, data_dir, log):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(log, "w") as out:
            server = subprocess.Popen([self.binary, "serve", "--port", str(port), "--data-dir", str(data_dir)],
                                      stdout=out, stderr=subprocess.STDOUT)
            try:
                wait_for_port(server, port, log)
                yield Client(port)
            finally:
                server.terminate()
                try:
                    server.wait(10)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()


class Client:
    """One kept-alive connection, as a client that fetches many frames has."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def request(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        response = self.connection.getresponse()
        data = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {data[:300]!r}")
        return data, response

    def upload(self, scene):
        data, _ = self.request("POST", "/v1/scenes", Path(scene).read_bytes(), {"Content-Type": "model/gltf-binary"})
        return json.loads(data)["id"]

    def frame_png(self, scene_id, query):
        """The whole answer; the frame cache is told to stand aside."""
        data, response = self.request("GET", f"/v1/scenes/{scene_id}/frame.png?{query}",
                                      headers={"Cache-Control": "no-cache"})
        return data, response.headers.get("server-timing", "")


def plain_query(description):
    """The server's own camera and light."""
    width, height = description["size"]
    return urlencode({"width": width, "height": height, "samples": description["samples"]})


def same_view_query(description):
    """The camera and directional light of `bench`; the environment stays the server's own."""
    light = description["light"]
    return plain_query(description) + "&" + urlencode({
        "camera": f"matrix:{numbers(description['camera'])};yfov={description['yfov']:.9g}rad",
        "sun": numbers(light["direction"]), "sun-lux": light["intensity"]})


def wait_for_port(server, port, log):
    for _ in range(600):
        if server.poll() is not None:
            raise RuntimeError(f"isoframe serve ended with {server.returncode}: {Path(log).read_text()[-500:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("isoframe serve does not listen after 30 s")


def numbers(values):
    return ",".join(format(value, ".9g") for value in values)


def last_json(output):
    """The last line that is a JSON object; a pretty-printed answer as a whole also counts."""
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except ValueError:
                break
    try:
        return json.loads(output[output.index("{"):])
    except ValueError:
        raise RuntimeError(f"no JSON in the output: {output[-500:]!r}") from None

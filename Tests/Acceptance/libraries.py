"""Microsoft's own libraries, as the files of wheels from PyPI. The repository holds the checksums of the wheels only."""

import dataclasses
import hashlib
import importlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile

from servers import ROOT

FOLDER = ROOT / ".build/libraries"


@dataclasses.dataclass
class Wheel:
    """A release on PyPI, and the SHA-256 of its wheel."""

    release: str
    digest: str

    def path(self):
        """The wheel in the folder of the build, downloaded if it is not there yet."""
        path = FOLDER / self.release / f"{self.digest}.whl"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent) as folder:
                pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
                # Only the wheel's files are used, which no Python of its time has to run.
                pip += ["--ignore-requires-python", "--dest", folder, self.release]
                subprocess.run(pip, check=True, stdout=subprocess.DEVNULL)
                [wheel] = pathlib.Path(folder).iterdir()
                wheel.rename(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest != self.digest:
            path.unlink()
            raise RuntimeError(f"the wheel of {self.release} has the SHA-256 {digest}, and not {self.digest}")
        return path


@dataclasses.dataclass
class Script:
    """A script of a wheel that holds MSAL.js, and a statement after it, which makes it a module with `PublicClientApplication`."""

    wheel: Wheel
    file: str
    statement: str

    def text(self):
        with zipfile.ZipFile(self.wheel.path()) as archive:
            return archive.read(self.file) + self.statement.encode()


MSAL_JS = {
    "3.26.1": Script(
        Wheel("msal-streamlit-auth==1.1.4", "849681281be1a2dab440b611181f35d58ffc1c67b0d02730ec782aaa7a30c0b4"),
        "msal_streamlit_auth/frontend/dist/assets/index-fnI2Rijh.js", "\nexport { ap as PublicClientApplication };\n"),
    "4.29.1": Script(
        Wheel("open-webui==0.12.4", "02e9caba96234db3fa17a92e56163b3f7f2b8ca8227fa886b85c178d696483f6"),
        "open_webui/frontend/_app/immutable/chunks/BmYyrR09.js", ""),
}

# The newest release of the major version before the one in requirements.txt.
MSAL_BEFORE = Wheel("msal==0.9.0", "db235dfdba13c0edf8dc68d14989560582cd4ce5f21a9dd96cdf4bfa815fc36a")


def msal_before():
    """The module `msal` of that release. The installed one stays what `import msal` means."""
    def named():
        return [name for name in sys.modules if name.split(".")[0] == "msal"]

    installed = {name: sys.modules.pop(name) for name in named()}
    sys.path.insert(0, str(MSAL_BEFORE.path()))
    try:
        return importlib.import_module("msal")
    finally:
        del sys.path[0]
        for name in named():
            del sys.modules[name]
        sys.modules.update(installed)

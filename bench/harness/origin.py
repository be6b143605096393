"""What results depend on: commit, machine, versions."""
import hashlib
import platform
import re
import subprocess

from support import ROOT

NOT_MEASURED = [":!docs", ":!*.md"]  # a commit of results changes nothing that is measured


def git(*arguments):
    done = subprocess.run(["git", *arguments, "--", ".", *NOT_MEASURED], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def commit():
    """The last one that changed what is measured, with a digest of what is not committed."""
    changes = git("diff", "HEAD")
    return (git("log", "-1", "--abbrev=10", "--format=%h") or "unknown") + (f"+{hashlib.sha1(changes.encode()).hexdigest()[:8]}" if changes else "")


def machine():
    cpu = open("/proc/cpuinfo").read()

    def values(name):
        return re.findall(rf"^{name}\s*: (.*)$", cpu, re.MULTILINE) or ["unknown"]

    names = values("model name")
    vectors = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if f" {flag} " in cpu), "neither AVX-512 nor AVX2")
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "unknown system")
    return f"{names[0]} with {vectors}, family {values('cpu family')[0]} model {values('model')[0]}, {len(names)} processors, {system}"


def origin(rocksdb):
    compiler = subprocess.run(["c++", "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip()
    version = re.search(r'EXACTBLOOM_VERSION "(.*)"', (ROOT / "include/exactbloom/version.h").read_text())[1]
    return {"commit": commit(), "machine": machine(), "versions": {"exactbloom": version, "rocksdb": rocksdb, "compiler": f"g++ {compiler}"}}

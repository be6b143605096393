"""What results depend on: commit, machine, versions, programs, input."""
import contextlib
import hashlib
import json
import pathlib
import platform
import re
import shutil
import subprocess

from support import ROOT, UNUSABLE, command_output, fail

LIMIT = 300  # seconds
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


def bloom_code(program):
    """The instructions by which RocksDB's Bloom filter answers."""
    symbols = command_output(["nm", program], LIMIT)
    name = re.search(r"\S*FastLocalBloomBitsReader8MayMatch\S*Slice\S*$", symbols, re.MULTILINE) or fail(UNUSABLE, f"{program} has no Bloom filter")
    return command_output(["objdump", "--disassemble=" + name[0], "--no-show-raw-insn", program], LIMIT)


def build_of(release):
    """The compiler's flags of a build of scripts/in_tree --bench. It has to be optimised, for this processor, without assertions, and
    its Bloom filter has to use AVX2."""
    words = json.loads((release / "compile_commands.json").read_text())[0]["command"].split()
    flags = [word for word in words if re.match("-O|-march=|-DNDEBUG", word)]
    if not {"-O2", "-march=native", "-DNDEBUG"} <= set(flags):
        fail(UNUSABLE, f"{release} is no release build for this processor: {' '.join(flags)}")
    if "%ymm" not in bloom_code(release / "db_bench"):
        fail(UNUSABLE, f"the Bloom filter in {release} does without AVX2")
    return " ".join(flags)


def digest_of_programs(programs, folder=None):
    """Of the files themselves, since an older build may measure at a newer commit. `folder` has the objects that are preloaded."""
    digest = hashlib.sha1()
    objects = sorted(folder.glob("*.so")) if folder else []
    for path in [*(shutil.which(program) for program in programs), *objects]:
        if path:
            with open(path, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha1").digest())
    return digest.hexdigest()


def state_of_files(words):
    """Size and time of the last change of each file that words of a command line name, and of those in a database. Info logs are no
    input, and a program that has the database open writes to them."""
    named = [path for word in words if (path := pathlib.Path(word.partition("=")[2] if word.startswith("-") else word)).exists()]
    states = []
    for file in (file for path in named for file in (sorted(path.iterdir()) if path.is_dir() else [path])):
        # A program that has the database open removes files.
        with contextlib.suppress(FileNotFoundError):
            if not file.name.startswith("LOG"):
                states.append([str(file), file.stat().st_size, file.stat().st_mtime_ns])
    return states


def origin(rocksdb, release=None):
    compiler = subprocess.run(["c++", "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip()
    version = re.search(r'EXACTBLOOM_VERSION "(.*)"', (ROOT / "include/exactbloom/version.h").read_text())[1]
    return {"commit": commit(), "machine": machine(), "build": build_of(release) if release else "Debian's librocksdb",
            "versions": {"exactbloom": version, "rocksdb": rocksdb, "compiler": f"g++ {compiler}"}}

"""The machine that results were measured on."""
import platform
import re


def machine():
    cpu = open("/proc/cpuinfo").read()

    def values(name):
        return re.findall(rf"^{name}\s*: (.*)$", cpu, re.MULTILINE) or ["unknown"]

    names = values("model name")
    vectors = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if f" {flag} " in cpu), "neither AVX-512 nor AVX2")
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "unknown system")
    return f"{names[0]} with {vectors}, family {values('cpu family')[0]} model {values('model')[0]}, {len(names)} processors, {system}"

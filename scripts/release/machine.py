"""The machine that results were measured on."""
import platform
import re


def machine():
    cpu = open("/proc/cpuinfo").read()
    names = re.findall(r"^model name\s*: (.*)$", cpu, re.MULTILINE)
    vectors = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if f" {flag} " in cpu), "neither AVX-512 nor AVX2")
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "unknown system")
    return f"{names[0] if names else 'unknown processor'} with {vectors}, {len(names)} processors, {system}"

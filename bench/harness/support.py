"""What the parts of the harness share: how it fails, and how it runs a program."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRONG_ANSWER, UNUSABLE = 1, 2  # exit statuses


def fail(status, message):
    sys.exit(print(f"measure: {message}", file=sys.stderr) or status)


def command_output(command, limit):
    """What a program prints. Of one that fails only what it says is repeated."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=limit)
    except FileNotFoundError:
        fail(UNUSABLE, f"{command[0]} is not there")
    except subprocess.TimeoutExpired:
        fail(UNUSABLE, f"{command[0]} did not end within {limit} seconds")
    if done.returncode != 0:
        status = WRONG_ANSWER if done.returncode == WRONG_ANSWER else UNUSABLE
        fail(status, f"{command[0]} failed: {done.stderr.strip()[-300:]}")
    return done.stdout

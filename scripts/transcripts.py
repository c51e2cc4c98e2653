"""transcripts.py [FOLDER]: are the transcripts and pictures those that `make pictures` took?

A transcript is a block of a page that begins

    ```console
    $ ./scanbench --n=1000

and goes on with what a terminal shows then. `make pictures` takes them all anew, and writes the file
RECORD: the commit, and the SHA-256 of each picture and of each page's transcripts. Here they are
compared with it. Prints each difference on a line, and then exits with 1."""
import contextlib
import glob
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
PICTURES = "docs/pictures"
RECORD = f"{PICTURES}/taken.txt"
ABOUT = "# By `make pictures`: the commit, and the SHA-256 of each page's transcripts and of each picture.\n"
BLOCK = re.compile(r"^```console\n(\$ \./scanbench .*?)^```$", re.S | re.M)
COMMIT = re.compile(r"^scanbench v[\w.]+ ?([^,\s]*)", re.M)
CLEAN_COMMIT = re.compile(r"g[0-9a-f]{7}")
# What the program says of a row that is noisy, and of a machine that has other work.
UNSTEADY = re.compile(r"%!|exceeds? --max-noise|times may vary")
COLUMNS = 80
TRIES = 5
BUSY = 0.5  # load per processor


class Failed(Exception):
    pass


# ---- Pages ----

def commands_of(block):
    """(command, what the page shows of it) for each command of a transcript."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pages_with_transcripts(root):
    pages = ["README.md", *sorted(glob.glob("docs/*.md", root_dir=root))]
    return [page for page in pages if BLOCK.search(read(os.path.join(root, page)))]


# ---- The terminal ----

@contextlib.contextmanager
def folder_with(program):
    """A folder where ./scanbench is the program."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(program, os.path.join(folder, "scanbench"))
        yield folder


def terminal(command, folder, last_code=0, lines=200):
    """What a terminal shows of a command, the same with its colours, and the exit code. `$?` begins as last_code."""
    with tempfile.TemporaryDirectory() as own:
        script, done = os.path.join(own, "script"), "END-OF-COMMAND"
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"(exit {last_code})\n{command}\nprintf '{done} %d.' $?\nsleep 60\n")

        def tmux(*words):
            return subprocess.run(["tmux", "-u", "-f", "/dev/null", "-S", os.path.join(own, "socket"), *words],
                                  check=True, stdout=subprocess.PIPE, text=True).stdout

        tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(lines), "-c", folder, "bash", script)
        try:
            while not re.search(rf"{done} \d+\.", tmux("capture-pane", "-p")):
                time.sleep(0.2)
            plain, code = re.search(rf"(.*){done} (\d+)\.", tmux("capture-pane", "-p"), re.S).groups()
            coloured = tmux("capture-pane", "-e", "-p").split(done)[0]
            if tmux("display-message", "-p", "#{history_size}").strip() != "0":
                raise Failed(f"{command}: more than {lines} lines")
        finally:
            tmux("kill-server")
    return plain, coloured, int(code)


def steady(take, command, anyway):
    """What take() returns, text first, once no row of it is noisy. With anyway, at once."""
    for _ in range(TRIES):
        taken = take()
        if anyway or not UNSTEADY.search(taken[0]):
            return taken
    raise Failed(f"{command}: {TRIES} times a row was marked ! or the load was high; try again on an idle machine")


def take_block(block, program):
    """The transcript as it is now, and the exit code that no `echo $?` shows."""
    text, code = "", 0
    with folder_with(program) as folder:
        for command, _ in commands_of(block):
            if code != 0 and command != "echo $?":
                raise Failed(f"{command}: exit {code} of the command before it")
            shown, _, code = terminal(command, folder, code)
            text += f"$ {command}\n{shown}"
    return text, code


def retaken(page, program, anyway=False):
    """The text of a page with all its transcripts taken again."""
    def take(match):
        command = next(commands_of(match.group(1)))[0]
        text, code = steady(lambda: take_block(match.group(1), program), command, anyway)
        if code != 0:
            raise Failed(f"{command}: exit {code}")
        return f"```console\n{text}```"
    return BLOCK.sub(take, page)


# ---- The record ----

def digest(content):
    return hashlib.sha256(content).hexdigest()


def digests(root):
    """{name: SHA-256} of what is there now."""
    found = {page: digest("".join(BLOCK.findall(read(os.path.join(root, page)))).encode())
             for page in pages_with_transcripts(root)}
    for picture in sorted(glob.glob(f"{PICTURES}/*.png", root_dir=root)):
        with open(os.path.join(root, picture), "rb") as file:
            found[picture] = digest(file.read())
    return found


def write_record(root, commit):
    with open(os.path.join(root, RECORD), "w", encoding="utf-8") as file:
        file.write(ABOUT + f"commit  {commit}\n")
        file.writelines(f"{value}  {name}\n" for name, value in digests(root).items())


def read_record(root):
    """The commit and {name: SHA-256}."""
    lines = re.findall(r"^([^#\s]+)  (.*)$", read(os.path.join(root, RECORD)), re.M)
    commit = next((name for value, name in lines if value == "commit"), "")
    return commit, {name: value for value, name in lines if value != "commit"}


def problems(root):
    try:
        commit, recorded = read_record(root)
    except FileNotFoundError:
        yield f"{RECORD}: no such file; `make pictures` writes it"
        return
    if not CLEAN_COMMIT.fullmatch(commit):
        yield f"{RECORD}: {commit or 'nothing'} is not a clean commit"
    found = digests(root)
    for name in sorted({*found, *recorded}):
        if found.get(name) != recorded.get(name):
            what = "the picture is" if name.endswith(".png") else "its transcripts are"
            yield f"{name}: {what} not what `make pictures` took"
    for page in pages_with_transcripts(root):
        shown = "".join(BLOCK.findall(read(os.path.join(root, page))))
        for other in sorted(set(COMMIT.findall(shown)) - {commit}):
            yield f"{page}: a transcript of {other or 'no commit'}, where {RECORD} has {commit}"
        for words in sorted(set(UNSTEADY.findall(shown))):
            yield f"{page}: a transcript of a busy machine: {words}"


# ---- When to take them ----

def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout.strip()


def commit_of(program):
    version = subprocess.run([program, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return COMMIT.match(version).group(1)


def load():
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def refusal(commit, wait_s):
    """Why what this program shows now would not be what one commit shows on an idle machine, or None."""
    head = git("rev-parse", "--short=7", "HEAD")
    if not head:
        return "there is no git history here, and pictures are of a commit"
    if git("status", "--porcelain"):
        return "this tree has changes that are not committed; commit them or put them aside, and run make again"
    if commit != f"g{head}":
        return f"the program was built from {commit or 'no commit'}, and HEAD is g{head}; run make again"
    until = time.monotonic() + wait_s
    while load() > BUSY:
        if time.monotonic() >= until:
            return f"the load is {load():.1f} per processor, and must be below {BUSY}"
        time.sleep(5)
    return None


if __name__ == "__main__":
    differences = list(problems(*sys.argv[1:] or [ROOT]))
    print("\n".join(differences), end="\n" if differences else "")
    sys.exit(bool(differences))

#!/usr/bin/env bats
# report: the page of scripts/report.sh, in headless Chromium. The page's own policy
# forbids it to load anything, so a page that works is self-contained. A script appended
# to the page acts as the user; the test reads its output from the page.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

chromium() {
    command chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$BATS_TEST_TMPDIR/profile" \
        --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync \
        --virtual-time-budget="${budget:-4000}" --enable-logging=stderr "$@" 2>>"$BATS_TEST_TMPDIR/browser"
}

# page FILE...: builds $page.
page() {
    page=$BATS_TEST_TMPDIR/page.html
    scripts/report.sh --output="$page" "$@"
}

# in_page STATEMENTS [HASH]: runs the statements and prints the arguments of say(), one per
# line; fails if the page reported an error.
in_page() {
    local work=$BATS_TEST_TMPDIR/tried.html
    cp "$page" "$work"
    cat >>"$work" <<END
<pre id="said"></pre>
<script>
const say = (text) => { document.getElementById("said").textContent += text + "\n"; };
const one = (selector) => document.querySelector(selector);
const choose = (name, value) => {
  const list = one('#controls [name="' + name + '"]');
  list.value = value;
  list.dispatchEvent(new Event("change"));
};
const chart = () => echarts.getInstanceByDom(one("#chart"));
const lines = () => chart().getOption().series.map((s) => s.name);
$1
</script>
END
    : >"$BATS_TEST_TMPDIR/browser"
    chromium --dump-dom "file://$work${2:-}" >"$BATS_TEST_TMPDIR/dom"
    if grep CONSOLE "$BATS_TEST_TMPDIR/browser"; then
        return 1
    fi
    sed -n '/<pre id="said">/,/<\/pre>/p' "$BATS_TEST_TMPDIR/dom" | sed 's/<[^>]*>//g; s/&amp;/\&/g' | sed '/^$/d'
}

setup_file() {
    command -v chromium >/dev/null || skip "no chromium here"
}

@test "report: opened, it shows scan in GB/s with the ceiling, and the rows" {
    page results/nvidia-h200/scan.csv results/nvidia-h200/sort.csv
    run in_page 'say(lines().sort().join(" "));
        say(chart().getOption().yAxis[0].name + ", " + chart().getOption().xAxis[0].name);
        say(one("#subject").textContent);
        say(document.querySelectorAll("tbody tr").length > 100);
        say([...document.querySelectorAll("#picks button")].length);'
    echo "$output"
    [ "$status" -eq 0 ]
    has "$output" 'brent-kung-smem cub efficient' 'memcpy' 'GB/s, elements n' 'NVIDIA H200' '2026-11-21' true
    # One line each, and one for all of them; an empty kernel has no GB/s.
    [ "${lines[-1]}" -eq $(($(wc -w <<<"${lines[0]}") + 2)) ]
}

@test "report: hover shows the row" {
    page results/nvidia-h200/scan.csv
    run in_page '
        const option = chart().getOption();
        const index = option.series.findIndex((s) => s.name === "cub");
        const point = option.series[index].data.find((p) => p[0] === 2 ** 26);
        const [x, y] = chart().convertToPixel({ seriesIndex: index }, point.slice(0, 2));
        const box = one("#chart").getBoundingClientRect();
        for (const type of ["mousemove", "mousemove"])
            one("#chart svg").parentElement.dispatchEvent(new MouseEvent(type,
                { clientX: box.left + x, clientY: box.top + y, bubbles: true, view: window }));
        setTimeout(() => { say(one("#chart > div:last-child").textContent); }, 500);'
    echo "$output"
    [ "$status" -eq 0 ]
    # Exactly the row of the file.
    has "$output" cub 'NVIDIA H200' '2^26 = 67108864' \
        "$(awk -F, '$2 == "cub" && $6 == 2 ^ 26 && $12 == "cold" { printf "%.4g", $18 * 1000 }' results/nvidia-h200/scan.csv) µs"
}

@test "report: algorithms toggle, filters filter, axes are chosen, the URL keeps it" {
    page results/nvidia-h200/scan.csv results/nvidia-h200/scan-block.csv results/nvidia-h200/compact.csv
    run in_page '
        const all = lines().length;
        one("#picks [data-algorithm=naive]").click();
        say("naive " + lines().includes("naive") + " " + (all - lines().length) + " " + one("#picks [data-algorithm=naive]").getAttribute("aria-pressed"));
        choose("y", "speedup"); choose("base", "thrust");
        say(chart().getOption().yAxis[0].name + " " +
            chart().getOption().series.find((s) => s.name === "thrust").data.every((p) => p[1] === 1));
        choose("cache", "hot");
        say("cache " + chart().getOption().series.every((s) => s.data.every((p) => p[2].includes("hot"))));
        choose("cache", "cold"); choose("y", "time_ms"); choose("x", "block"); choose("n", String(2 ** 24));
        say("block " + chart().getOption().series.find((s) => s.name === "warp-shuffle").data.map((p) => p[0]).join(","));
        choose("x", "n"); choose("op", "compact"); choose("keep", "0.5");
        say("keep " + chart().getOption().series.every((s) => s.data.every((p) => p[2].includes("0.5"))));
        document.querySelectorAll("#picks button").forEach((b) => { if (b.textContent === "all") b.click(); });
        document.querySelectorAll("#picks button").forEach((b) => { if (b.textContent === "none") b.click(); });
        say("nothing " + one("#nothing").hidden + " " + one("#chart").hidden);
        say(decodeURIComponent(location.hash));'
    echo "$output"
    [ "$status" -eq 0 ]
    has "$output" 'naive false 1 false' 'times as fast as thrust true' 'cache true' 'block 32,64,128,256,512,1024' \
        'keep true' 'nothing false true' 'op=compact' 'keep=0.5' 'hide='
    run in_page 'say(lines().join(" ") + " " + chart().getOption().yAxis[0].name)' '#op=compact&y=time_ms&hide=naive'
    has "$output" 'time' cub
    [[ $output != *naive\ * ]]
}

@test "report: the table sorts, finds, and has what failed" {
    printf '%s\n' 'op,algo,type,n,device,time_ms,check,reason' 'scan,b,i32,32,cpu,2,passed,' \
        'scan,a,i32,64,cpu,10,passed,' 'scan,c,i32,64,cpu,,failed,"got 1, wanted 2"' >"$rows"
    page "$rows"
    run in_page '
        const column = (name) => { const i = [...document.querySelectorAll("th button")].findIndex((b) => b.dataset.column === name);
            return [...document.querySelectorAll("tbody tr")].map((tr) => tr.cells[i].textContent).join(","); };
        const click = (name) => one("th [data-column=" + name + "]").click();
        click("time_ms"); say("up " + column("time_ms"));
        click("time_ms"); say("down " + column("time_ms") + " " + one("th [data-column=time_ms]").parentElement.getAttribute("aria-sort"));
        click("algo"); say("algo " + column("algo"));
        one("#find").value = "wanted"; one("#find").dispatchEvent(new Event("input"));
        say("found " + column("algo") + " " + column("reason") + " " + one("tbody tr").className);
        say("drawn " + lines().sort().join(","));'
    echo "$output"
    [ "$status" -eq 0 ]
    has "$output" 'up 2,10,' 'down 10,2, descending' 'algo a,b,c' 'found c got 1, wanted 2 bad' 'drawn a,b'
}

@test "report: whatever a CSV says, it is text" {
    printf '%s\n' 'op,algo,type,n,device,device_name,time_ms,check,label' \
        'scan,"</script><script>say(""hurt"")</script>",i32,32,cpu,"<img src=x onerror=say(""hurt"")>",2,passed,"é ""q"", \u003c @DATA@ @SCRIPT@"' \
        'scan,naive,i32,64,cpu,"<img src=x onerror=say(""hurt"")>",3,passed,' >"$rows"
    page "$rows"
    run in_page 'document.querySelectorAll("#columns input").forEach((i) => { if (!i.checked) i.click(); });
        say(one("tbody").textContent); say(lines().length);'
    echo "$output"
    [ "$status" -eq 0 ]
    has "$output" 'é "q", \u003c @DATA@ @SCRIPT@'
    [[ $output != *hurt* || $output == *'say("hurt")'* ]]
    ! grep -x hurt <<<"$output" || false
}

# hostile_rows: rows whose texts a careless page would execute, or take for its own
# placeholders.
hostile_rows() {
    python3 - <<'END'
import csv, sys
names = ["<img src=x onerror=hurt(1)>", '"><script>hurt(2)</script>', "</script><script>hurt(3)</script>",
         "<svg onload=hurt(4)>", "'-hurt(5)-'", "{a|rich}", "a,b%2c", 'q"]\\', "two\nlines", "__proto__",
         "constructor", "toString", "hasOwnProperty", "valueOf", "length", "cub"]
text = "<img src=x onerror=hurt(6)>"
columns = ["op", "algo", "type", "kind", "n", "block", "threads", "device", "device_name", "cache", "input", "max",
           "keep", "simd", "host_memory", "time_ms", "noise_pct", "gb_s", "check", "reason", "chose", "version",
           "commit", "date", "label", text, "__proto__", "constructor"]
out = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
out.writeheader()
for i, name in enumerate(names):
    for n in (1024, 4096):
        for device in ("__proto__", text):
            row = dict.fromkeys(columns, text)
            row.update(algo=name, n=n, block=64 << i % 2, threads=1 + i % 2, device=device, device_name=device,
                       keep=0.5, time_ms=n * (i + 1) / 1e6, noise_pct=1, gb_s=100 / (i + 1), check="passed",
                       date="2026-01-02T00:00:00Z", label=name)
            row.update({"__proto__": name, "constructor": name})
            out.writerow(row)
            for column in ("op", "type", "kind", "cache", "input", "simd", "host_memory"):
                out.writerow({**row, column: "constructor"})
END
}

@test "report: whatever a CSV says and a mouse does, no script of it is run" {
    local budget=120000
    hostile_rows >"$rows"
    page "$rows"
    cp "$page" "$page.sound"
    # At the start of the page, so that it is there when the data is read.
    sed '0,/<head>/s//<head><script>window.hurt = (what) => { document.documentElement.dataset.hurt += what; };<\/script>/' \
        "$page.sound" >"$page"
    cat >"$BATS_TEST_TMPDIR/driver.js" <<'END'
const soon = () => new Promise((then) => setTimeout(then, 5));
const all = (selector) => [...document.querySelectorAll(selector)];
document.documentElement.dataset.hurt = "";
let hovered = 0, told = 0;
async function hover() {
  if (one("#chart").hidden) return;
  const box = one("#chart").getBoundingClientRect(), series = chart().getOption().series;
  for (let i = 0; i < series.length; i++) {
    const [x, y] = chart().convertToPixel({ seriesIndex: i }, series[i].data[0].slice(0, 2));
    for (let turn = 0; turn < 2; turn++)
      one("#chart svg").parentElement.dispatchEvent(new MouseEvent("mousemove",
        { clientX: box.left + x, clientY: box.top + y, bubbles: true, view: window }));
    hovered++;
    told += /time/.test(one("#chart > div:last-child").textContent);
  }
  await soon();
}
/* Each choice of each list, each tick, with a look at every point. */
async function controls() {
  for (const name of all("#controls select").map((list) => list.name)) {
    for (let k = 0; one(`#controls [name="${name}"]`) && k < one(`#controls [name="${name}"]`).options.length; k++) {
      choose(name, one(`#controls [name="${name}"]`).options[k].value);
      await hover();
    }
    const list = one(`#controls [name="${name}"]`);
    if (list) choose(name, list.options[0].value);
  }
  for (const name of ["logx", "logy"]) one(`#controls [name="${name}"]`).click();
  await hover();
}
(async () => {
  try {
    say("algorithms " + new Set(chart().getOption().series.map((s) => s.data[0][2][1])).size + " " + one("table").rows.length);
    choose("device", "");
    say("lines " + lines().length);
    await controls();
    choose("y", "speedup");
    for (const option of [...one('#controls [name="base"]').options]) {
      choose("base", option.value);
      say("over " + chart().getOption().yAxis[0].name.length);
      await hover();
    }
    for (let k = 0; k < all("#picks button").length; k++) {
      const before = location.hash, name = all("#picks button")[k].dataset.algorithm;
      all("#picks button")[k].click();
      if (name !== undefined) say("focus " + (document.activeElement.dataset.algorithm === name));
      /* The view that its URL names. */
      const hidden = all('#picks [aria-pressed="false"]').length;
      const hash = location.hash;
      location.hash = "#x=constructor&__proto__=1&toString=2";
      await soon();
      location.hash = hash;
      await soon();
      say("hash " + (all('#picks [aria-pressed="false"]').length === hidden) + " " + (hash !== before));
      all("#picks button")[k].click();
    }
    for (const box of all("#columns input, #everything")) if (!box.checked) box.click();
    for (let k = 0; k < all("th button").length; k++) {
      all("th button")[k].click();
      all("th button")[k].click();
    }
    for (const word of ["<img src=x onerror=hurt(7)>", "__proto__", "2^10"]) {
      one("#find").value = word;
      one("#find").dispatchEvent(new Event("input"));
    }
    for (const target of all("summary, #more, #theme, td, th, h1, svg *"))
      for (const type of ["mouseover", "mousemove", "mousedown", "mouseup", "click", "dblclick", "mouseout"])
        target.dispatchEvent(new MouseEvent(type, { bubbles: true, view: window }));
    await soon();
    say("hovered " + (hovered > 300) + " told " + (told > hovered / 2));
  } catch (error) {
    say("error " + error.stack);
  }
  say("hurt [" + document.documentElement.dataset.hurt + "]");
  say("done");
})();
END
    run in_page "$(cat "$BATS_TEST_TMPDIR/driver.js")"
    echo "$output"
    [ "$status" -eq 0 ]
    has "$output" 'algorithms 16 ' 'lines 32' 'hovered true told true' 'done'
    [ "$(grep -c '^over ' <<<"$output")" -eq 16 ]
    [ "$(grep -c '^focus true$' <<<"$output")" -eq 16 ]
    [ "$(grep -c '^hash true true$' <<<"$output")" -eq 17 ]
    # An error would have been noticed.
    grep -qx 'hurt \[\]' <<<"$output"
    run in_page 'document.documentElement.dataset.hurt = "";
        one("#subject").innerHTML = "<img src=x onerror=hurt(8)>";
        setTimeout(() => say("hurt [" + document.documentElement.dataset.hurt + "]"), 500);'
    grep -q 'hurt \[8\]' "$BATS_TEST_TMPDIR/dom"
}

@test "report: several devices are told apart; light and dark" {
    quick --device=cpu --algo=serial,simd --n=2^6..2^10 --output="$rows"
    page results/nvidia-h200/scan.csv "$rows"
    run in_page 'choose("device", ""); say(lines().filter((name) => name.startsWith("simd")).join(" "));
        say(getComputedStyle(document.body).backgroundColor);
        one("#theme").click();
        say(getComputedStyle(document.body).backgroundColor);
        choose("device", "NVIDIA H200"); say(lines().some((name) => name.startsWith("simd")));'
    echo "$output"
    [ "$status" -eq 0 ]
    has "$output" 'simd · ' 'rgb(255, 255, 255)' 'rgb(13, 17, 23)' false
}

@test "report: what is wrong is one line, exit 2" {
    local arguments
    printf 'a,b\n1,2\n' >"$BATS_TEST_TMPDIR/other.csv"
    for arguments in "results/nvidia-h200/scan.csv" "--output=$BATS_TEST_TMPDIR/x.html" \
        "--output=$BATS_TEST_TMPDIR/x.html none.csv" "--output=$BATS_TEST_TMPDIR/x.html $BATS_TEST_TMPDIR/other.csv" \
        "--output=/nowhere/x.html results/nvidia-h200/scan.csv" "--outptu=x results/nvidia-h200/scan.csv"; do
        # Words, on purpose.
        # shellcheck disable=SC2086
        run --separate-stderr scripts/report.sh $arguments
        echo "$arguments: exit $status; $stderr"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "report.sh: "* ]]
        [ ! -e "$BATS_TEST_TMPDIR/x.html" ]
    done
}

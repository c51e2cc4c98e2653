"use strict";

/* What a request of a warp asks of the hardware, as SVG: lanes, banks, sectors. */

const SQUARE = 24, SMALL = 12, SECTORS_PER_ROW = 4;

function square(x, y, className, text, hint) {
  return `<rect class="cell ${className}" x="${x}" y="${y}" width="${SQUARE}" height="${SQUARE}"><title>${escapeText(hint)}</title></rect>` +
    `<text class="value" x="${x + SQUARE / 2}" y="${y + 16}">${escapeText(text)}</text>`;
}

function drawLanes(request) {
  let body = "";
  for (let lane = 0; lane < 32; lane++) {
    const active = request.lanes >>> lane & 1;
    body += square(1 + lane * SQUARE, 1, active ? "written" : "unknown", active ? lane : "",
                   `lane ${lane} ${active ? "takes part" : "does not take part"}`);
  }
  return svgOf(32 * SQUARE + 2, SQUARE + 2, body, "active lanes");
}

function lanesText(lanes) {
  const contiguous = lanes.length > 2 && lanes.at(-1) - lanes[0] === lanes.length - 1;
  return contiguous ? `${lanes[0]}–${lanes.at(-1)}` : lanes.join(",");
}

/* A column per bank, with the lanes that ask for each of its words. What is not in the first row of
 * a part takes one more pass. */
function drawBanks(run, request) {
  const parts = bankParts(run, request);
  let body = "", y = 14;
  for (let bank = 0; bank < 32; bank++)
    body += textAt(1 + bank * SQUARE + SQUARE / 2, 10, "index", bank);
  for (const {lanes, banks} of parts) {
    if (parts.length > 1)
      body += textAt(1, y += 14, "soft", `lanes ${lanes[0]} to ${lanes[1]}`);
    y += parts.length > 1 ? 4 : 0;
    const passes = Math.max(...banks.map((bank) => bank.length));
    for (let pass = 0; pass < passes; pass++, y += SQUARE)
      for (let bank = 0; bank < 32; bank++) {
        const entry = banks[bank][pass], x = 1 + bank * SQUARE;
        if (!entry) {
          body += pass === 0 ? square(x, y, "unknown", "", `bank ${bank}: not used`) : "";
          continue;
        }
        const text = entry.lanes.length > 2 ? "all" : entry.lanes.join(",");
        const hint = `bank ${bank}, word ${entry.word}, lanes ${lanesText(entry.lanes)}, pass ${pass + 1}`;
        body += square(x, y, pass > 0 ? "conflict" : "written", entry.lanes.length > 2 ? `×${entry.lanes.length}` : text, hint);
        body += pass > 0 ? `<text class="sign" x="${x + 2}" y="${y + 9}" font-size="10">✕</text>` : "";
      }
  }
  return svgOf(32 * SQUARE + 2, y + 2, body, "words of the request by bank");
}

/* Each sector has 32 bytes, of which those that no lane asks for are hatched. */
function drawSectors(run, request) {
  const sectors = sectorsOf(run, request), word = 4 * SMALL / 3;
  const wide = 8 * word + 74;
  const body = sectors.map(({start, used}, i) => {
    const left = 1 + i % SECTORS_PER_ROW * wide, y = 4 + Math.floor(i / SECTORS_PER_ROW) * (SMALL + 10);
    let bytes = textAt(left, y + 11, "soft", `byte ${start}`);
    for (let byte = 0, next; byte < 32; byte = next) {
      next = byte + 1;
      while (next < 32 && next % 4 !== 0 && used[next] === used[byte])
        next++;
      bytes += `<rect class="${used[byte] ? "cell written" : "unused"}" x="${rounded(left + 62 + byte * word / 4)}" y="${y}" ` +
        `width="${rounded((next - byte) * word / 4)}" height="${SMALL + 2}"><title>bytes ${start + byte} to ${start + next - 1}: ` +
        `${used[byte] ? "asked for" : "unused"}</title></rect>`;
    }
    return bytes;
  }).join("");
  const rows = Math.ceil(sectors.length / SECTORS_PER_ROW);
  return svgOf(Math.min(sectors.length, SECTORS_PER_ROW) * wide + 2, rows * (SMALL + 10) + 6, body, "bytes of the request by sector");
}

"""The file of a table: how it is written, and a plain reading of it that the crate is compared with.

src/layout.rs describes the format. Everything here favours being obvious over being fast."""
import struct
import unicodedata

import numpy as np

HEADER = struct.Struct("<8sQQIIIIIIIIIIQQQQ32s")
MAGIC = b"RPTMEAN1"
WORDS, WORD_PIECE, SENTENCE_PIECE = 0, 1, 2
FOLD_CASE, STRIP_ACCENTS = 1, 2
FLAG = 0x8000
MASK = (1 << 64) - 1
MULTIPLIER = 0x9E3779B97F4A7C15
MAX_TEXT = 4096
MAX_LETTERS = 64
MARKED_BELOW = 4
COST = 1024  # costs are in 1/1024 nat


# ---- what both directions share ------------------------------------------------------------------

def piece_hash(flag, piece):
    h = 0x9E3779B97F4A7C15 if flag else 0xCBF29CE484222325
    for byte in piece:
        h = ((h ^ byte) * 0x100000001B3) & MASK
    h = ((h ^ (h >> 32)) * MULTIPLIER) & MASK
    return h ^ (h >> 29)


def filter_bits(h, words):
    return (h >> 24) & (words - 1), 1 << (h >> 52 & 63) | 1 << (h >> 58)


def fingerprint(data):
    data = data[16:]
    data += bytes(-len(data) % 8)
    h = 0xCBF29CE484222325
    for (word,) in struct.iter_unpack("<Q", data):
        h = ((((h << 5) | (h >> 59)) & MASK ^ word) * MULTIPLIER) & MASK
    return h


# ---- writing -------------------------------------------------------------------------------------

def write(path, pieces, rows, *, bits, tokenizer, flags, unknown, name):
    """Writes a table. `pieces` is a list of (bytes, flag, cost in nats), `rows` has a row for each."""
    rows = np.asarray(rows, np.float32)
    n, dimensions = rows.shape
    assert n == len(pieces) and dimensions % 16 == 0 and dimensions <= 256
    most = 7 if bits == 4 else 127
    scales = np.abs(rows).max(1) / most
    if bits == 4:  # a few values beyond the range cost less than a coarser step for all
        scales = best_scales(rows, most)
    unit = np.float32(max(scales.max(), 1e-12) / 65535)
    steps = np.clip(np.round(scales / unit), 0, 65535).astype(np.uint16)
    exact = np.maximum(steps.astype(np.float32) * unit, 1e-20)[:, None]
    values = np.clip(np.round(rows / exact), -most, most).astype(np.int8)
    values[steps == 0] = 0
    n_buckets = 1 << max(0, (n // 3).bit_length() - 1)
    filter_words = 1 << max(0, (n * 10 // 64).bit_length())
    buckets, table_filter = [[] for _ in range(n_buckets)], [0] * filter_words
    for i, (piece, flag, cost) in enumerate(pieces):
        h = piece_hash(flag, piece)
        buckets[h & (n_buckets - 1)].append(i)
        word, mask = filter_bits(h, filter_words)
        table_filter[word] |= mask
    starts, entries, order = [], bytearray(), []
    for bucket in buckets:
        starts.append((len(entries), len(order)))
        for i in bucket:
            piece, flag, cost = pieces[i]
            cost = min(max(round(cost * COST), 0), 0x7FFF)
            entries += struct.pack("<BH", len(piece), cost | (FLAG if flag else 0)) + piece
            order.append(i)
    starts.append((len(entries), len(order)))
    body = bytearray()
    places = []
    for section in (np.array(starts, "<u4").tobytes(), bytes(entries), np.array(table_filter, "<u8").tobytes(),
                    packed(steps[order], values[order], bits)):
        body += bytes(-len(body) % 64)
        places.append(HEADER.size + len(body))
        body += section
    longest = max(len(p) for p, _, _ in pieces)
    size = HEADER.size + len(body)

    def head(mark):
        return HEADER.pack(MAGIC, mark, size, dimensions, bits, tokenizer, flags, n, n_buckets, longest,
                           min(round(unknown * COST), 0xFFFFFF), 0, filter_words, *places, name.encode())
    data = head(0) + bytes(body)
    with open(path, "wb") as f:
        f.write(head(fingerprint(data)) + bytes(body))
    return size


def best_scales(rows, most):
    """The scale of each row at which rounding to `most` steps loses the least."""
    top = np.abs(rows).max(1)
    best, least = top / most, np.full(len(rows), np.inf)
    for part in np.linspace(0.55, 1.0, 10):
        scale = np.maximum(top * part / most, 1e-20)[:, None]
        loss = ((np.clip(np.round(rows / scale), -most, most) * scale - rows) ** 2).sum(1)
        better = loss < least
        best[better], least[better] = scale[better, 0], loss[better]
    return best


def packed(steps, values, bits):
    scale = steps.astype("<u2")[:, None].view(np.uint8)
    if bits == 8:
        return np.hstack([scale, values.view(np.uint8)]).tobytes()
    half = values.shape[1] // 2
    nibbles = (values + 8).astype(np.uint8)
    return np.hstack([scale, nibbles[:, :half] | nibbles[:, half:] << 4]).tobytes()


# ---- words ---------------------------------------------------------------------------------------

def is_mark(c):
    return unicodedata.category(c)[0] == "M"


def is_unspaced(c):
    c = ord(c)
    return any(a <= c <= b for a, b in (
        (0x3005, 0x3007), (0x3041, 0x3096), (0x3099, 0x309A), (0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF),
        (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x20000, 0x323AF)))


def is_letter(c):
    # Alphabetic or numeric, as Unicode derives it: letters, numbers, and signs that stand for letters.
    return c.isalpha() or unicodedata.category(c)[0] in "LN" or is_mark(c) or c in OTHER_ALPHABETIC


OTHER_ALPHABETIC = {chr(c) for a, b in ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
                    for c in range(a, b + 1)}


def split_words(text):
    """The words of a text in their normal form, as the tokenizer `WORDS` sees them."""
    words, at = [], 0
    while at < len(text):
        of = kind(text[at])
        start, at = at, at + 1
        if of is None:
            continue
        while at < len(text) and (kind(text[at]) == of or is_mark(text[at])):
            at += 1
        word = text[start:at]
        if len(word.encode()) > MAX_LETTERS and len(word) > MAX_LETTERS and not is_unspaced(word[0]):
            continue
        normal = "".join(c.lower() for c in unicodedata.normalize("NFKC", word))
        if normal:
            words.append(normal)
    return words


def kind(c):
    return "unspaced" if is_unspaced(c) else "letter" if is_letter(c) else None


def is_marked(piece, starts):
    """Whether a piece at the start of a word is another than inside: short ones of alphabets are."""
    return starts and len(piece) < MARKED_BELOW and piece[0] < "\u3000"


# ---- reading -------------------------------------------------------------------------------------

class Table:
    """A table as its file says, without any of the crate's devices."""

    def __init__(self, path):
        data = open(path, "rb").read()
        (magic, mark, size, self.dimensions, bits, self.tokenizer, self.flags, n, n_buckets, self.longest,
         self.unknown, _, filter_words, buckets_at, entries_at, filter_at, rows_at, name) = HEADER.unpack_from(data)
        assert magic == MAGIC and size == len(data) and mark == fingerprint(data)
        assert self.tokenizer == WORDS and self.flags == FOLD_CASE
        self.costs, at = {}, entries_at
        for row in range(n):
            length, cost = struct.unpack_from("<BH", data, at)
            piece = data[at + 3:at + 3 + length].decode()
            self.costs[piece, bool(cost & FLAG)] = (cost & ~FLAG, row)
            at += 3 + length
        raw = np.frombuffer(data, np.uint8, n * (2 + self.dimensions * bits // 8), rows_at).reshape(n, -1)
        self.scales = raw[:, :2].copy().view("<u2")[:, 0].astype(np.float32)
        if bits == 8:
            self.values = raw[:, 2:].view(np.int8).astype(np.float32)
        else:
            self.values = np.hstack([raw[:, 2:] & 15, raw[:, 2:] >> 4]).astype(np.float32) - 8

    def pieces(self, text):
        """The rows of a text's pieces, in order."""
        text = text.encode()[:MAX_TEXT].decode(errors="ignore")
        return [row for word in split_words(text) for row in self.cheapest(word)]

    def cheapest(self, word):
        best = [None] * (len(word) + 1)  # (cost, from, row)
        best[0] = (0, 0, None)
        for start in range(len(word)):
            cost = best[start][0]

            def reach(end, more, row):
                if best[end] is None or cost + more < best[end][0]:
                    best[end] = (cost + more, start, row)
            reach(start + 1, self.unknown, None)
            for end in range(start + 1, len(word) + 1):
                part = word[start:end]
                if len(part.encode()) > self.longest:
                    break
                found = self.costs.get((part, is_marked(part, start == 0)))
                if found:
                    reach(end, *found)
        rows, at = [], len(word)
        while at > 0:
            _, start, row = best[at]
            if row is not None:
                rows.append(row)
            at = start
        return rows[::-1]

    def vector(self, text):
        """The vector of a text, of length 1 or 0."""
        total = np.zeros(self.dimensions, np.float32)
        for row in self.pieces(text):
            total += self.scales[row] * self.values[row]
        length = np.sqrt((total.astype(np.float64) ** 2).sum())
        return total / np.float32(length) if length else total

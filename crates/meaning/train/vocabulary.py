"""The pieces of the table: vocabulary.py PACKAGES SENTENCES OUT SIZE.

Candidates are the pieces of multilingual-e5-small in lower case, and words that are frequent in the sentences. Their
costs are fitted as a unigram model's (three rounds of the cheapest segmentation of every word), mixed with the
teacher's own, and the SIZE that are used most stay; a piece that other languages use more, or that looks like one of
theirs, counts less. Pieces of single characters always stay."""
import collections
import json
import math
import sys
import unicodedata

import teachers
from table import COST, is_marked, is_unspaced, split_words

# What the alphabets of the languages have beside a to z.
LATIN = set("àáâãäåæçèéêëìíîïñòóôõöøœùúûüýÿßąćęłńśźż")
SCRIPTS = ("LATIN", "CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "DIGIT")
NOT_RUSSIAN = set("іїєґўјљњћђџѓќѕәғқңөұүһ")
LONGEST = 24  # in bytes
PRIOR = 0.35  # the weight of the teacher's probabilities beside those of the sentences


def is_ours(piece):
    for c in piece:
        name = unicodedata.name(c, "")
        if not name.startswith(SCRIPTS):
            return False
        if name.startswith("LATIN") and not ("a" <= c <= "z" or c in LATIN) or c in NOT_RUSSIAN:
            return False
    return True


def candidates(packages):
    """The teacher's pieces as {(piece, flag): probability}."""
    mass = collections.Counter()
    for piece, score in teachers.read_e5(packages)[1][4:]:
        starts = piece.startswith("\u2581")
        text = piece.lstrip("\u2581")
        if not text or split_words(text) != [unicodedata.normalize("NFKC", text).lower()]:
            continue
        text = split_words(text)[0]
        if is_ours(text) and len(text.encode()) <= LONGEST and (not text.isdigit() or len(text) < 5):
            mass[text, is_marked(text, starts)] += math.exp(score)
            if len(text) == 1 and not is_unspaced(text):
                mass[text, is_marked(text, not starts)] += math.exp(score) / 10
    return mass


def cheapest(word, costs, longest, unknown=20.0):
    best = [(0.0, 0, None)] + [None] * len(word)
    for start in range(len(word)):
        cost = best[start][0]
        if best[start + 1] is None or cost + unknown < best[start + 1][0]:
            best[start + 1] = (cost + unknown, start, None)
        for end in range(start + 1, min(len(word), start + longest) + 1):
            piece = word[start:end]
            key = piece, is_marked(piece, start == 0)
            more = costs.get(key)
            if more is not None and (best[end] is None or cost + more < best[end][0]):
                best[end] = (cost + more, start, key)
    found, at = [], len(word)
    while at:
        _, start, key = best[at]
        if key:
            found.append(key)
        at = start
    return found[::-1]


def grams(word):
    return [word[a:a + n] for n in (2, 3) for a in range(len(word) - n + 1)]


class Look:
    """How much a string looks like a word of ours rather than of other languages, by its bigrams and trigrams."""

    def __init__(self, ours, theirs):
        self.log_odds = {}
        counts = []
        for words in (ours, theirs):
            count = collections.Counter()
            for word, n in words.items():
                for gram in grams(word):
                    count[gram] += math.sqrt(n)
            counts.append((count, sum(count.values())))
        (here, n_here), (there, n_there) = counts
        for gram in here.keys() | there.keys():
            odds = ((here[gram] + 1) / n_here) / ((there[gram] + 1) / n_there)
            self.log_odds[gram] = math.log(odds)

    def share(self, piece):
        odds = sum(self.log_odds.get(gram, -0.5) for gram in grams(piece))
        return 1 / (1 + math.exp(-odds))


def main(packages, sentences, out, size):
    size = int(size)
    words = collections.Counter()
    by_language = collections.Counter()
    rows = [json.loads(line) for line in open(sentences, encoding="utf8")]
    for row in rows:
        by_language[row["lang"]] += len(row["text"])
    foreign = collections.Counter()
    for row in rows:
        if row["lang"] == "other":
            foreign.update(split_words(row["text"]))
            continue
        weight = 1 if row["lang"] == "en" else 0.5 * by_language["en"] / (10 * by_language[row["lang"]])
        for word in split_words(row["text"]):
            words[word] += weight
    mass = candidates(packages)
    total = sum(mass.values())
    prior = {key: p / total for key, p in mass.items()}
    for word, n in words.items():
        if n >= 12 and 4 <= len(word) and len(word.encode()) <= LONGEST and is_ours(word) and not word.isdigit():
            prior.setdefault((word, is_marked(word, True)), 1e-7)
    print(len(prior), "candidates", len(words), "words", flush=True)
    costs = {key: -math.log(p) for key, p in prior.items()}
    n_words = sum(words.values())
    for turn in range(3):
        counts = collections.Counter()
        for word, n in words.items():
            for key in cheapest(word, costs, 16):
                counts[key] += n
        all_of = sum(counts.values())
        share = {key: (1 - PRIOR) * counts[key] / all_of + PRIOR * p for key, p in prior.items()}
        if turn < 2:
            costs = {key: -math.log(p) for key, p in share.items() if p > 0}
    there = collections.Counter()
    for word, n in foreign.items():
        for key in cheapest(word, costs, 16):
            there[key] += n
    # Of the same kind as the prior: what a piece is used for here and there, in equally many words.
    scale = n_words / max(1, sum(foreign.values()))
    look = Look(words, foreign)
    for key, p in share.items():
        used = counts[key] / (counts[key] + scale * there[key] + 1e-9)
        known = min(1, (counts[key] + scale * there[key]) / 10)
        share[key] = p * (known * used + (1 - known) * look.share(key[0]))
    single = {key for key in prior if len(key[0]) == 1 and (key[0] < "\u3000" or counts[key] > 0)}
    ranked = sorted(share, key=lambda key: (key not in single, -share[key]))[:size]
    with open(out, "w", encoding="utf8") as f:
        for key in ranked:
            f.write(json.dumps([*key, round(costs[key] * COST) / COST, round(counts[key], 1)], ensure_ascii=False) + "\n")
    kinds = collections.Counter(unicodedata.name(k[0][0], "?").split()[0] for k in ranked)
    print(len(ranked), "pieces;", kinds.most_common(8), "single", len(single), "words", round(n_words))


if __name__ == "__main__":
    main(*sys.argv[1:])

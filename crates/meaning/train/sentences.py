"""Sentences to fit a table to: sentences.py PACKAGES CORPUS OUT.

PACKAGES holds unpacked packages (README.md lists them), CORPUS skills below `skills/` and the names of catalogs with
prompts below `routing/catalogs/`: a sentence that one of those catalogs has is left out, as their prompts are tests.
Writes a line of JSON for each sentence: {"lang", "text", "en", "document", "number"}: `en` is the English
original of a translation, `document` the skill or README that it is from, `number` its place among all. `lang` is `other` for languages without a place in the table."""
import ast
import collections
import glob
import json
import os
import random
import re
import sys

LANGUAGES = {"de": "de", "es": "es", "fr": "fr", "it": "it", "pt": "pt", "pt-br": "pt", "ru": "ru", "ko": "ko",
             "ja": "ja", "pl": "pl", "zh": "zh", "zh-hans": "zh", "zh-cn": "zh", "cn": "zh", "zhcn": "zh"}
# Languages with the same letters, for which pieces are not kept.
OTHERS = "nl sv da nb nn no fi hu tr ro cs sk hr sl et lt lv id vi ca eu gl uk bg sr mk be kk af cy fy ga is lb sq bs sw"
PERMISSIVE = re.compile(r"\b(MIT|Apache|BSD|ISC|Unlicense|CC0|0BSD|Zlib)\b", re.I)
RESTRICTED = re.compile(r"\b[AL]?GPL|\bMPL|proprietary", re.I)


def language(code):
    """The language of a locale's name, or none if it is not one of ours."""
    code = code.lower().replace("_", "-")
    if code[:2] in OTHERS.split():
        return "other"
    return LANGUAGES.get(code) or (LANGUAGES.get(code[:2]) if len(code) == 5 and code not in ("zh-tw", "zh-hk") else None)


def clean(text):
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>]*>|https?://\S+|%\(\w+\)[sdr]|%[sd]|\{\{?[^}]*\}?\}|[`*]+|\[%key:[^%]*%\]", " ", text)
    return re.sub(r"\s+", " ", text).strip(" -|>#:\"'")


def good(text, lang):
    least = 3 if lang in ("zh", "ja", "ko") else 8
    letters = sum(c.isalpha() for c in text)
    return least <= len(text) <= 400 and letters > 0.6 * len(text.replace(" ", ""))


# ---- skills and documents ------------------------------------------------------------------------

def passages(markdown):
    """Headings, items and paragraphs of a Markdown text, without code and tables."""
    markdown = re.sub(r"```.*?(```|\Z)|<!--.*?-->|^\s*(\||:?-{3}).*$", "\n", markdown, flags=re.S | re.M)
    for part in re.split(r"\n\s*\n|\n\s*[-*+] |\n#+ |\n\s*\d+[.)] ", markdown):
        part = clean(part)
        if len(part) > 240:
            yield from (s for s in re.split(r"(?<=[.!?。！？]) *", part) if s)
        else:
            yield part


def skill_sentences(path):
    text = open(path, encoding="utf8", errors="replace").read()
    parts = re.match(r"\ufeff?---\s*\n(.*?)\n---[ \t]*\n(.*)", text, re.S)
    head, body = parts.groups() if parts else ("", text)
    name = re.search(r"^name:\s*(.+)", head, re.M)
    description = re.search(r"^description:\s*(.*(?:\n[ \t]+.*)*)", head, re.M)
    if description:
        whole = clean(description.group(1))
        yield whole[:400]
        if name:
            yield f"{name.group(1).strip().replace('-', ' ')}. {whole[:200]}"
        yield from re.split(r"(?<=[.;:!?])\s+|, | or | and ", whole)
    yield from passages(body)


def read_skills(corpus):
    """Sentences of each skill; those of catalogs with prompts, and copies of them, are left out."""
    tests = set(os.listdir(corpus + "/routing/catalogs"))
    found, forbidden = [], set()
    for repository in sorted(os.listdir(corpus + "/skills")):
        for path in sorted(glob.glob(f"{corpus}/skills/{repository}/**/SKILL.md", recursive=True)):
            sentences = [s.strip() for s in skill_sentences(path)]
            if repository in tests:
                forbidden.update(sentences)
            else:
                found.append(sentences[:20] + random.sample(sentences[20:], min(70, len(sentences[20:]))))
    return [[s for s in document if s not in forbidden] for document in found], forbidden


def read_documents(packages):
    """Sentences of each README of crates, npm and PyPI packages under permissive licences, the summary first."""
    for path in sorted(glob.glob(packages + "/crates/*/README*")):
        manifest = os.path.dirname(path) + "/Cargo.toml"
        licence = re.search(r'^license\s*=\s*"(.*)"', open(manifest).read(), re.M) if os.path.exists(manifest) else None
        if licence and PERMISSIVE.search(licence.group(1)):
            summary = re.search(r'^description\s*=\s*"(.*)"', open(manifest).read(), re.M)
            lead = [summary.group(1)] if summary else []
            yield lead + list(passages(open(path, encoding="utf8", errors="replace").read()))
    for path in sorted(glob.glob(packages + "/wheels/**/*.dist-info/METADATA", recursive=True)):
        head, _, body = open(path, encoding="utf8", errors="replace").read().partition("\n\n")
        licence = " ".join(line for line in head.split("\n") if line.startswith(("License", "Classifier: License")))
        if PERMISSIVE.search(licence) and not RESTRICTED.search(licence):
            yield [*re.findall(r"^Summary: (.*)", head, re.M), *passages(body)]
    for path in sorted(glob.glob(packages + "/npm/**/README.md", recursive=True)):
        manifest = os.path.dirname(path) + "/package.json"
        if os.path.exists(manifest):
            about = json.load(open(manifest))
            if PERMISSIVE.search(str(about.get("license"))):
                yield [str(about.get("description")), *passages(open(path, encoding="utf8", errors="replace").read())]


# ---- translations --------------------------------------------------------------------------------

def leaves(tree, path=()):
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, (*path, key))
    elif isinstance(tree, str):
        yield path, tree


def load(path):
    try:
        return dict(leaves(json.load(open(path, encoding="utf8"))))
    except (ValueError, OSError):
        return {}


def read_po(path):
    """The messages of a gettext file with their translations."""
    entry, field = {}, None
    for line in [*open(path, encoding="utf8", errors="replace"), ""]:
        line = line.strip()
        start = re.match(r'(msgid|msgstr)(?:\[0\])? (".*")$', line)
        if start:
            field = start.group(1)
            entry[field] = string(start.group(2))
        elif line.startswith('"') and field:
            entry[field] += string(line)
        else:
            if not line and entry.get("msgid") and entry.get("msgstr"):
                yield entry["msgid"], entry["msgstr"]
            if not line:
                entry = {}
            field = None


def string(quoted):
    try:
        return str(ast.literal_eval(quoted))
    except (ValueError, SyntaxError):
        return ""


def read_translations(x):
    """Triples of language, translation and English original."""
    for path in glob.glob(x + "/**/LC_MESSAGES/*.po", recursive=True):
        lang = language(path.split("/")[-3])
        if lang:
            yield from ((lang, there, here) for here, there in read_po(path))
    for path in glob.glob(x + "/jupyterlab*/**/LC_MESSAGES/*.json", recursive=True):
        lang = language(path.split("/")[-3])
        for here, there in json.load(open(path, encoding="utf8")).items():
            if lang and isinstance(there, list) and there and isinstance(there[0], str):
                yield lang, there[0], here.split("\x04")[-1]
    for path in glob.glob(x + "/codingame*/package/translations/extensions/*.json"):
        lang = language(re.search(r"language-pack-([a-z-]+)-\d", path).group(1))
        for here, there in json.load(open(path, encoding="utf8"))["contents"].get("bundle", {}).items():
            if lang:
                yield lang, there, here.rsplit("/", 1)[0] if "/ " in here else here
    by_key = [(glob.glob(x + "/homeassistant/homeassistant/components/*/translations"), "{}/{}.json"),
              (glob.glob(x + "/apache_airflow_core/airflow/ui/dist/i18n/locales"), "{}/{}/*.json"),
              (glob.glob(x + "/node-red*/package/locales"), "{}/{}/*.json")]
    for directories, form in by_key:
        for directory in directories:
            yield from joined(directory, form)
    yield from read_frontend(x)
    yield from read_payload(x)


def joined(directory, form):
    for english in glob.glob(form.format(directory, "en")) + glob.glob(form.format(directory, "en-US")):
        here = load(english)
        code = os.path.basename(directory) and ("en-US" if "/en-US/" in english else "en")
        for name in os.listdir(directory):
            lang = language(name.removesuffix(".json"))
            other = english.replace(f"/{code}/", f"/{name}/") if f"/{code}/" in english else f"{directory}/{name}"
            if lang and os.path.exists(other):
                yield from ((lang, there, here[key]) for key, there in load(other).items() if key in here)


def read_frontend(x):
    by_language = collections.defaultdict(dict)
    for path in glob.glob(x + "/home_assistant_frontend/hass_frontend/static/translations/**/*.json", recursive=True):
        code = re.match(r"(.+)-[0-9a-f]{32}\.json", os.path.basename(path))
        if code:
            part = os.path.dirname(path)
            by_language[code.group(1)].update({(part, *key): text for key, text in load(path).items()})
    here = by_language["en"]
    for code, texts in by_language.items():
        lang = language(code)
        if lang:
            yield from ((lang, there, here[key]) for key, there in texts.items() if key in here)


def read_payload(x):
    def texts(path):
        return re.findall(r"(\w+): (?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")", open(path, encoding="utf8").read())
    for english in glob.glob(x + "/payload*/package/dist/languages/en.js"):
        here = texts(english)
        for path in glob.glob(os.path.dirname(english) + "/*.js"):
            lang, there = language(os.path.basename(path)[:-3]), texts(path)
            if lang and [k for k, *_ in there] == [k for k, *_ in here]:
                yield from ((lang, a[1] or a[2], b[1] or b[2]) for a, b in zip(there, here))


def main(packages, corpus, out):
    random.seed(42)
    skills, forbidden = read_skills(corpus)
    seen, rows = set(forbidden), []

    def add(lang, text, en=None, document=None):
        if good(text, lang) and (lang, text) not in seen:
            seen.add((lang, text))
            rows.append({"lang": lang, "text": text, "en": en, "document": document})
    for number, document in enumerate([*skills, *read_documents(packages)]):
        for text in document:
            add(script(text), text, document=number)
    for lang, there, here in read_translations(packages + "/translations"):
        there, here = clean(there), clean(here)
        if there != here and good(here, "en") and here not in forbidden:
            add(lang, there, here)
            add("en", here)
    for number, row in enumerate(rows):
        row["number"] = number
    random.shuffle(rows)
    with open(out, "w", encoding="utf8") as f:
        for row in rows:
            f.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(collections.Counter(row["lang"] for row in rows), collections.Counter(row["lang"] for row in rows if row["en"]))


def script(text):
    """A guess at the language of a document's sentence, from its script."""
    for lang, letters in (("ja", r"[\u3040-\u30ff]"), ("zh", r"[\u4e00-\u9fff]"), ("ko", r"[\uac00-\ud7af]"), ("ru", r"[\u0400-\u04ff]")):
        if len(re.findall(letters, text)) > 0.2 * len(text):
            return lang
    return "en"


if __name__ == "__main__":
    main(*sys.argv[1:])

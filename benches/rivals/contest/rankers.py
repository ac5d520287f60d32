"""One way to rank skills, behind lines of JSON: `python -m contest.rankers NAME MODELS`.

A line `{"load": DIRECTORY}` indexes the skills of a directory; the answer is `{"loaded": true}`. A line
`{"rank": MESSAGE}` is answered by `{"ranked": [SKILL, …]}`, at most five, best first. Each ranker imports its
packages itself, so that the start of each process costs what that ranker costs.
"""

import asyncio
import contextlib
import functools
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

N_FOUND = 5


@dataclass
class Skill:
    name: str
    description: str
    when_to_use: str
    triggers: list[str]
    body: str

    @property
    def brief(self) -> str:
        """The text that agents list for a skill."""
        return f"{self.name.replace('-', ' ')}: {self.description} {self.when_to_use}".strip()


def read_skills(directory: Path) -> list[Skill]:
    """Reads each `SKILL.md` in the order of the names."""
    import yaml

    skills = []
    for file in sorted(directory.glob("*/SKILL.md")):
        _, head, body = file.read_text("utf8").split("---\n", 2)
        fields = yaml.safe_load(head)
        when_to_use = " ".join(texts(fields.get("when_to_use")))
        triggers = texts(fields.get("triggers"))
        description = str(fields.get("description", ""))
        skills.append(Skill(file.parent.name, description, when_to_use, triggers, body))
    return skills


def texts(value) -> list[str]:
    """Returns the texts of a field that holds one, a list, or nothing of use."""
    values = value if isinstance(value, list) else [value]
    return [value for value in values if isinstance(value, str)]


def best(skills: list[Skill], scores) -> list[str]:
    """Returns the names with the greatest scores above 0; equal ones keep their order."""
    order = sorted(range(len(skills)), key=lambda at: -scores[at])
    return [skills[at].name for at in order[:N_FOUND] if scores[at] > 0]


class Echo:
    """Finds nothing: what the pipe and JSON cost."""

    def __init__(self, directory: Path, models: Path):
        pass

    def rank(self, message: str) -> list[str]:
        return []


class Contains:
    """Counts the keywords that the lower-cased message contains.

    These are the declared triggers, the name, and the words of the name of four letters or more.
    """

    def __init__(self, directory: Path, models: Path):
        self.skills = read_skills(directory)
        self.keywords = [
            {
                *(trigger.lower() for trigger in skill.triggers),
                skill.name.lower(),
                *(word for word in skill.name.lower().split("-") if len(word) >= 4),
            }
            for skill in self.skills
        ]

    def rank(self, message: str) -> list[str]:
        message = message.lower()
        return best(self.skills, [sum(word in message for word in words) for words in self.keywords])


class Regex:
    """Counts the words of the name that are whole words of the message."""

    def __init__(self, directory: Path, models: Path):
        self.skills = read_skills(directory)
        words = [map(re.escape, skill.name.split("-")) for skill in self.skills]
        self.patterns = [re.compile(rf"\b(?:{'|'.join(of)})\b", re.IGNORECASE) for of in words]

    def rank(self, message: str) -> list[str]:
        found = [pattern.findall(message) for pattern in self.patterns]
        return best(self.skills, [len({word.lower() for word in words}) for words in found])


class Bm25:
    """The package `rank_bm25` over name, description and body, in lower-cased words."""

    def __init__(self, directory: Path, models: Path):
        from rank_bm25 import BM25Okapi

        self.skills = read_skills(directory)
        texts = (f"{skill.brief}\n{skill.body}" for skill in self.skills)
        self.index = BM25Okapi([self.words(text) for text in texts])

    @staticmethod
    def words(text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    def rank(self, message: str) -> list[str]:
        return best(self.skills, self.index.get_scores(self.words(message)))


class Nearest:
    """The cosine of the message and of name with description, by some model."""

    def __init__(self, directory: Path, vectors):
        self.skills = read_skills(directory)
        self.vectors = vectors
        self.index = vectors([skill.brief for skill in self.skills])

    def rank(self, message: str) -> list[str]:
        return best(self.skills, self.index @ self.vectors([message])[0])


@functools.cache
def minilm(models: Path):
    """Returns the function that turns texts into vectors by MiniLM."""
    from contest.minilm import MiniLM

    return MiniLM(models / "minilm").vectors


@functools.cache
def static(models: Path):
    """Returns the function that turns texts into vectors by the static model that `wordllama` brings."""
    from wordllama import WordLlama
    import wordllama

    # It looks for its own tokenizer in a wrong place, and would download it.
    package = Path(wordllama.__file__).parent
    model = WordLlama.load(cache_dir=package, disable_download=True)
    return lambda texts: model.embed(texts, norm=True)


class SemanticRouter:
    """The package `semantic-router`: a route for each skill, with its name and description as the utterance."""

    def __init__(self, directory: Path, vectors):
        from semantic_router import IndexedRouter, Route
        from semantic_router.encoders import DenseEncoder

        class Encoder(DenseEncoder):
            def __call__(self, docs):
                return vectors(list(docs)).tolist()

        skills = read_skills(directory)
        routes = [Route(name=skill.name, utterances=[skill.brief]) for skill in skills]
        self.router = IndexedRouter(Encoder(name="a model"), routes, top_k=N_FOUND)

    def rank(self, message: str) -> list[str]:
        return [choice.name for choice in self.router(message, limit=N_FOUND)]


class AgentSkills:
    """The package `agentskills-retrieval`, with one of its two selectors.

    It refuses skills that it does not find valid. So that it ranks them all, fields are cut to its maximum lengths,
    those that it does not search are left out, and no body is empty. Templates named in capitals stay refused.
    """

    def __init__(self, directory: Path, select):
        from agentskills_core import SkillRegistry
        from agentskills_fs import LocalFileSystemSkillProvider

        class Provider(LocalFileSystemSkillProvider):
            async def get_metadata(self, skill_id):
                fields = await super().get_metadata(skill_id)
                description = str(fields.get("description") or "-")[:1024]
                kept = {"name": fields["name"], "description": description}
                if uses := [use[:200] for use in texts(fields.get("when_to_use")) if use.strip()]:
                    kept["when_to_use"] = uses[:5]
                if isinstance(fields.get("metadata"), dict):
                    kept["metadata"] = fields["metadata"]
                return kept

            async def get_body(self, skill_id):
                return await super().get_body(skill_id) or "-"

        async def register(registry, provider):
            for skill_id in await provider.discover():
                with contextlib.suppress(ValueError):
                    await registry.register(skill_id, provider)

        registry = SkillRegistry()
        self.loop = asyncio.new_event_loop()
        self.loop.run_until_complete(register(registry, Provider(directory)))
        self.selector = select(registry)

    def rank(self, message: str) -> list[str]:
        return self.loop.run_until_complete(self.selector.select(message, limit=N_FOUND)).skill_ids


def lexical(registry):
    from agentskills_retrieval import LexicalSelector

    return LexicalSelector(registry)


def embedding(registry, vectors):
    from agentskills_retrieval import EmbeddingSelector

    class Embedder:
        embedder_id = "minilm"

        async def embed(self, texts):
            return vectors(list(texts)).tolist()

    # A ranking: the first five, however low their cosines are.
    return EmbeddingSelector(registry, Embedder(), min_score=-1.0)


RANKERS = {
    "echo": Echo,
    "contains": Contains,
    "regex": Regex,
    "bm25": Bm25,
    "static": lambda skills, models: Nearest(skills, static(models)),
    "minilm": lambda skills, models: Nearest(skills, minilm(models)),
    "router-static": lambda skills, models: SemanticRouter(skills, static(models)),
    "router-minilm": lambda skills, models: SemanticRouter(skills, minilm(models)),
    "agentskills": lambda skills, _: AgentSkills(skills, lexical),
    "agentskills-minilm": lambda skills, models: AgentSkills(
        skills, lambda registry: embedding(registry, minilm(models))
    ),
}


def main() -> None:
    name, models = sys.argv[1:]
    ranker = None
    for request in map(json.loads, sys.stdin):
        if "load" in request:
            ranker = RANKERS[name](Path(request["load"]), Path(models))
            answer = {"loaded": True}
        else:
            answer = {"ranked": ranker.rank(request["rank"])}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

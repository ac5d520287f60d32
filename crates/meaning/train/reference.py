"""What the plain reading of a table makes of 2,000 texts of ten languages: reference.py TABLE OUT.

The texts are put together from the words below, with a fixed seed, in every form that the normalisation must see
through: upper case, full width, accents apart, joined words, signs of other scripts. A line has the text, with line
breaks and tabs as `\\n` and `\\t`, a checksum of the rows of its pieces, their number, and eight components."""
import random
import sys
import unicodedata

from table import MASK, Table

WORDS = {
    "en": "deploy the release notes from our staging server without losing a customer's invoice when tests fail again "
          "please summarise yesterday's meeting about quarterly budget kubernetes refactoring unhappy schedule",
    "de": "Können wir die Rechnung für den Kunden heute noch prüfen Datenbankmigration Rückmeldung Angebot schreiben "
          "Maßnahmen über Größe verschieben Besprechung zusammenfassen Straße wächst ärgerlich Fehlermeldung",
    "fr": "rédiger une réponse à la cliente très fâchée déployer où ça élève naïve œuvre vérifier les données "
          "réunion trimestrielle échéance déjà l'équipe aujourd'hui corriger français",
    "es": "necesito revisar el código señal añadir una función mañana cliente enojado reunión pingüino presupuesto "
          "traducción rápida servidor caído ¿cómo arreglo esto? niño corazón",
    "it": "perché il server è caduto più volte scrivere una risposta città riunione verificare i dati già così "
          "aggiornare il preventivo l'ufficio qualità libertà",
    "pt": "não consigo publicar a versão ação reunião amanhã orçamento coração função você está traduzir código "
          "relatório trimestral avô último três",
    "pl": "proszę sprawdzić błąd w bazie danych źródło żółw zażółć gęślą jaźń wdrożenie spotkanie umowa klient "
          "ćwiczenie łódź świetnie napisać",
    "ru": "почему тест снова упал напиши ответ клиенту ёлка объявление совещание отчёт за квартал подъезд сервер "
          "обновить договор быстро ошибка данных",
    "zh": "请帮我 修复 数据库 的 错误 部署 到 生产环境 写 一份 季度 报告 会议 纪要 客户 投诉 单元测试 为什么 失败 了 "
          "發布 機器學習 代码审查",
    "ja": "データベース の エラー を 直して ください 会議 の 議事録 を 書く 顧客 デプロイ ﾃｽﾄ が 失敗 しました "
          "レビュー お願いします 四半期 報告書 パフォーマンス",
}
SIGNS = [", ", ". ", "! ", " — ", "/", "_", "-", "\t", "\n", "  ", " (", ") ", "“", "”", "。", "、", "？", "…", "·",
         "\u200b", "\u00ad", "🚀", " 3.14 ", " 2024 ", "#42 ", "v1.2.3 ", "½", "Ⅳ", "①", "ﬁ", "\ufffd", "e\u0301",
         "अनुवाद ", "שלום ", "ไทย ", "한국어로 번역 ", "İ", "ẞ", "ǅ", "\u0345", "Aa0Bb1 ", "https://example.com/a?b=c "]
FORMS = [
    lambda w: w, lambda w: w, lambda w: w, str.upper, str.capitalize, str.lower,
    lambda w: unicodedata.normalize("NFD", w),
    lambda w: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in w),
    lambda w: w[: len(w) // 2 + 1], lambda w: w * 2, lambda w: "".join(reversed(w)),
]


def texts():
    random.seed(7)
    for lang, words in WORDS.items():
        words = words.split()
        for i in range(200):
            n = random.choice([1, 2, 3, 5, 8, 13, 30]) if i else 900
            joint = "" if lang in ("zh", "ja") else " "
            parts = []
            for _ in range(n):
                parts.append(random.choice(FORMS)(random.choice(words)))
                parts.append(random.choice(SIGNS) if random.random() < 0.2 else joint)
            yield "".join(parts)


def checksum(rows):
    h = 0xCBF29CE484222325
    for row in rows:
        h = ((h ^ row) * 0x100000001B3) & MASK
    return h


def main(path, out):
    table = Table(path)
    step = table.dimensions // 8
    with open(out, "w", encoding="utf8") as f:
        for text in texts():
            rows = table.pieces(text)
            few = " ".join(f"{value:.7f}" for value in table.vector(text)[::step])
            text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
            f.write(f"{text}\t{checksum(rows):016x}\t{len(rows)}\t{few}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

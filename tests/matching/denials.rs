//! Denials in many languages, and text about a skill: what names a skill without asking for it.

use repertoire::SkillId;
use repertoire::matcher::{Answer, IndexOptions};

use crate::search;

/// A message's statement about the skill `qx`.
#[derive(Debug, PartialEq)]
pub(crate) enum Said {
    Denied,
    About,
    Weak,
    Strong,
}

fn said(answer: &Answer) -> Option<Said> {
    let is_in = |skills: &[SkillId]| skills.iter().any(|id| id == "qx");
    let found = answer.matches.iter().find(|found| found.id == "qx");
    match found {
        Some(found) if found.explicit => Some(Said::Strong),
        Some(_) if is_in(&answer.about) => Some(Said::About),
        Some(_) => Some(Said::Weak),
        None => is_in(&answer.denied).then_some(Said::Denied),
    }
}

#[track_caller]
pub(crate) fn assert_said(texts: &[&str], expected: &[Said]) {
    let mut wrong = Vec::new();
    for text in texts {
        let text = text.replace('X', "qx");
        let answer = search(&[("qx", "qx", ""), ("qy", "qy", "")], &IndexOptions::default(), &text);
        let said = said(&answer);
        if !said.as_ref().is_some_and(|said| expected.contains(said)) {
            wrong.push((text, said));
        }
    }
    assert!(wrong.is_empty(), "not {expected:?}: {wrong:#?}");
}

#[test]
fn denials_are_known_in_many_languages() {
    assert_said(
        &[
            "please solve it without X",
            "please solve it without the X skill",
            "the X skill should not be used here",
            "X is not needed",
            "The X skill mustn't be invoked for this",
            // German
            "nicht den X skill nehmen",
            "den X skill nicht nehmen",
            "bitte ohne X",
            "bitte ohne den X-Skill",
            "Benutze X nicht",
            "nimm bitte nicht den X skill",
            "X bitte nicht verwenden",
            "ich will X hier nicht benutzen",
            "der X-Skill soll nicht verwendet werden",
            "X brauche ich nicht",
            "Keinen X-Skill nutzen",
            "mach das statt mit X von Hand",
            "niemals X aufrufen",
            "bitte verzichte auf X",
            "Lass den X Skill weg",
            "évite d'utiliser X",
            "evita usar X",
            "evite usar X",
            "evita di usare X",
            "X kullanmana gerek yok",
            // French
            "n'utilise pas X",
            "N’utilisez pas la compétence X",
            "ne pas utiliser X s'il te plaît",
            "fais-le sans X",
            "sans utiliser le skill X",
            "écris-le toi-même au lieu d'utiliser X",
            "je ne veux pas utiliser X",
            "n'utilise plus X",
            "le skill X ne doit pas être utilisé",
            // Spanish
            "no uses X",
            "no uses la habilidad X",
            "no quiero que uses X",
            "hazlo sin X",
            "sin usar X",
            "en lugar de X hazlo a mano",
            "nunca utilices X",
            "el skill X no debe usarse",
            // Portuguese
            "não use X",
            "nao use o skill X",
            "faça isso sem X",
            "sem usar a habilidade X",
            "em vez de X faça à mão",
            "não quero usar X",
            "o skill X não deve ser usado",
            // Italian
            "non usare X",
            "non usare la competenza X",
            "fallo senza X",
            "senza usare X",
            "non voglio usare X",
            "la competenza X non deve essere usata",
            // Dutch
            "gebruik X niet",
            "gebruik de X skill niet",
            "X niet gebruiken",
            "gebruik geen X",
            "zonder X graag",
            "niet de X skill gebruiken",
            "in plaats van X",
            // Polish
            "nie używaj X",
            "proszę nie używać umiejętności X",
            "bez X",
            "zrób to bez użycia X",
            "zamiast X",
            "X nie jest potrzebny",
            // Russian
            "не используй X",
            "не надо использовать навык X",
            "сделай это без X",
            "без помощи навыка X",
            "вместо X",
            "навык X не используй",
            "X не нужен",
            // Ukrainian, Swedish, Indonesian, Vietnamese, Arabic, Hindi
            "не використовуй X",
            "будь ласка, без навички X",
            "використай не X",
            "använd inte X",
            "gör det utan X",
            "jangan gunakan X",
            "tanpa menggunakan skill X",
            "đừng dùng X",
            "không cần X",
            "لا تستخدم X",
            "بدون X",
            "X का उपयोग मत करो",
            "X के बिना",
            // Danish and Norwegian, Finnish, Czech, Romanian, Hungarian, Greek, Hebrew, Thai
            "ikke bruk X",
            "ikke brug X-skillen",
            "gjør det uten X",
            "lad være med at bruge X",
            "älä käytä X",
            "tee se ilman X",
            "nepoužívej X",
            "udělej to bez X",
            "nu folosi X",
            "fără X",
            "ne használd a X",
            "X nélkül csináld",
            "μην χρησιμοποιήσεις το X",
            "κάνε το χωρίς X",
            "אל תשתמש ב X",
            "בלי X",
            "อย่าใช้ X",
            "ไม่ต้องใช้ X",
            "auf keinen Fall X",
            "exclude X",
            // Turkish
            "X kullanma",
            "X becerisini kullanma",
            "X'i kullanmayın",
            "X kullanmadan yap",
            "X kullanmak istemiyorum",
            "bunu X olmadan yap",
            "X yerine elle yap",
            // Chinese
            "不要用 X 技能",
            "不要用X",
            "请不要使用 X 技能",
            "别用X",
            "請勿使用 X",
            "修一下这个,不用 X",
            "无需调用X",
            "X 技能不要用",
            "而不是 X",
            // Japanese
            "X を使わないで",
            "Xを使わないでください",
            "Xスキルは使わないで",
            "Xは不要です",
            "X なしでお願いします",
            "Xではなく手で直して",
            "X スキルを使用せずに直して",
            // Korean
            "X 스킬은 쓰지 마",
            "X를 사용하지 마세요",
            "X 없이 해줘",
            "X 말고",
        ],
        &[Said::Denied],
    );
}

#[test]
fn near_misses_of_denials_deny_nothing() {
    assert_said(
        &[
            "do not forget to run X",
            "not only X",
            "why is X not needed",
            // German
            "nicht nur X",
            "nicht nur den X skill nehmen",
            "warum nicht X",
            "warum benutzt du X nicht",
            "vergiss nicht den X skill zu nutzen",
            "nicht ohne X starten",
            "der Build geht nicht, nimm X",
            "X nicht vergessen",
            "nimm X und nicht qy",
            // French
            "n'utilise que X",
            "pas seulement X",
            "pourquoi pas X",
            "n'oublie pas d'utiliser X",
            "n'hésite pas à utiliser X",
            "ne commence pas sans X",
            // Spanish
            "no solo X",
            "por qué no usas X",
            "no olvides usar X",
            "no dudes en usar X",
            "no empieces sin X",
            "usa X no uses qy",
            // Portuguese
            "não só X",
            "por que não usar X",
            "não esqueça de usar X",
            // Italian
            "non solo X",
            "perché non usi X",
            "non dimenticare di usare X",
            // Dutch
            "niet alleen X",
            "waarom gebruik je X niet",
            "vergeet niet X te gebruiken",
            // Polish
            "nie tylko X",
            "dlaczego nie używasz X",
            "nie zapomnij użyć X",
            // Russian
            "не только X",
            "почему не использовать X",
            "не забудь использовать X",
            "используй X не используй qy",
            // Ukrainian, Swedish, Indonesian, Vietnamese, Arabic, Hindi
            "не забудь використати X",
            "glöm inte att använda X",
            "jangan lupa gunakan X",
            "đừng quên dùng X",
            "لا تنس استخدام X",
            "X का उपयोग करो",
            // Danish and Norwegian, Finnish, Czech, Romanian, Hungarian, Greek, Hebrew, Thai
            "ikke glem å bruke X",
            "hvorfor ikke bruke X",
            "älä unohda käyttää X",
            "nezapomeň použít X",
            "nu uita să folosești X",
            "ne felejtsd el használni a X",
            "μην ξεχάσεις να χρησιμοποιήσεις το X",
            "אל תשכח להשתמש ב X",
            "อย่าลืมใช้ X",
            // What denies in one language is another word in others.
            "gebruik nu X",
            "pak qy en X",
            "ne X",
            "אל X",
            "auf jeden Fall X",
            // Turkish
            "X kullanmayı unutma",
            "sadece X değil",
            "X kullanma kılavuzu",
            // Chinese
            "不仅用 X",
            "不仅仅用 X",
            "为什么不用 X",
            "别忘了用 X",
            "不得不用 X",
            "用 X 不要用 qy",
            "要不要用 X",
            // Japanese
            "X だけでなく",
            "なぜ X を使わないの",
            "X を使わないといけない",
            "X を使うのを忘れないで",
            // Korean
            "X뿐만 아니라",
            "왜 X를 쓰지 않아",
            "X 쓰는 걸 잊지 마",
        ],
        &[Said::Weak, Said::Strong, Said::About],
    );
}

#[test]
fn text_about_a_skill_does_not_ask_for_it() {
    assert_said(
        &[
            "the X skill is broken, ignore it",
            "is the X skill installed?",
            "why was X shown?",
            "why was the X skill shown?",
            "delete the X skill",
            "please uninstall the skill X",
            "the X skill does not work",
            "Why doesn't the X skill work?",
            "what is the X skill?",
            "how does the X skill work",
            "fix the X skill",
            "the X skill isn't installed",
            "hm, /X is broken",
            "was the /X skill loaded?",
            "update the description of the X skill",
            "cd skills/X && ls",
            "cat .claude/skills/X/SKILL.md",
            "git rm -r X/SKILL.md",
            "der X-Skill ist kaputt",
            "ist der X skill installiert?",
            "lösche den X-Skill",
            "der X skill funktioniert nicht",
            "le skill X ne marche pas",
            "supprime la compétence X",
            "la habilidad X está rota",
            "elimina la habilidad X",
            "apague a habilidade X",
            "la competenza X non funziona",
            "verwijder de X skill",
            "usuń umiejętność X",
            "навык X не работает",
            "удали навык X",
            "X becerisi çalışmıyor",
            "删除 X 技能",
            "X 技能坏了",
            "there is a typo in the X skill",
            "pourquoi X s'est déclenché ?",
            "¿está instalada la skill X?",
            "为什么触发了 X？",
            "X 스킬이 고장났어요",
            "X スキルを削除して",
            "X 스킬을 삭제해줘",
        ],
        &[Said::About],
    );
}

#[test]
fn the_word_skill_is_known_in_many_languages() {
    assert_said(
        &[
            "nimm den X-Skill",
            "nutze die Fähigkeit X",
            "usa la habilidad X",
            "utilise la compétence X",
            "use a habilidade X",
            "usa la competenza X",
            "gebruik de vaardigheid X",
            "użyj umiejętności X",
            "используй навык X",
            "X becerisini kullan",
            "用 X 技能",
            "用X技能来做",
            "请使用技能X",
            "X スキルを使って",
            "X 스킬을 사용해줘",
            "use the X skill to fix what is broken",
            "/X is broken",
            "use the X skill and tell me why the build fails",
            "use the X and qy skills",
            "use the skills qy and X",
            "use the skills `qy`, `X`",
            "utilise les compétences X et qy",
        ],
        &[Said::Strong],
    );
    assert_said(&["X skills", "skills of X", "X und Fähigkeiten"], &[Said::Weak]);
}

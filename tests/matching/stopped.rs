//! Uses that are stopped or needless, and denials in two parts around the name.

use crate::denials::{Said, assert_said};

#[test]
fn uses_that_are_stopped_or_needless_are_denied() {
    assert_said(
        &[
            "leave X out of this",
            "leave out X please",
            "keep the X skill out of it",
            "turn off X",
            "turn the X skill off, please",
            "switch X off and do it by hand",
            "forget about X, do it manually",
            "anything but X",
            "use sed in place of X",
            "hold off on X",
            "I won't be needing X",
            "I do not wish to use X",
            "I never asked for X",
            "skip X",
            "skip the X skill this time",
            "X is off limits",
            "the X skill is off-limits here",
            "this is unrelated to X",
            "my question is not related to X",
            "it has nothing to do with X",
            "a non-X solution",
            // German
            "ich will nicht, dass du X benutzt",
            "ich möchte nicht, dass der X-Skill verwendet wird",
            "auf X verzichten",
            "auf den X-Skill bitte verzichten",
            "setz X nicht ein",
            "wende X nicht an",
            "führe X nicht aus",
            "ruf X nicht auf und mach es von Hand",
            "benutze X nicht und mach es von Hand",
            "lass X aus",
            "lass den X-Skill bitte aus",
            "schalte X aus",
            "deaktiviere X",
            "hör auf X zu benutzen",
            "das hat nichts mit X zu tun",
            // French
            "arrête d'utiliser X",
            "cesse d'utiliser la compétence X",
            "laisse tomber X",
            "inutile d'utiliser X",
            "je ne veux pas que tu utilises X",
            "oublie X",
            "désactive X",
            // Spanish
            "deja de usar X",
            "nada de X",
            "olvídate de X",
            "no es necesario usar X",
            "X no es necesario",
            "desactiva X",
            // Portuguese
            "pare de usar o X",
            "nada de usar X",
            "esqueça o X",
            "não usa o X",
            "não utilizes a habilidade X",
            "não quero que você use o X",
            "desative X",
            // Italian
            "smetti di usare X",
            "niente X",
            "lascia perdere X",
            "non voglio che usi X",
            "disattiva X",
            // Dutch
            "stop met X",
            "schakel X uit",
            "voer X niet uit",
            // Polish
            "przestań używać X",
            "nie chcę, żebyś używał X",
            "zapomnij o X",
            "wyłącz X",
            // Russian
            "перестань использовать X",
            "никакого X",
            "я не хочу, чтобы ты использовал X",
            "забудь про X",
            "отключи X",
            // Turkish
            "X'e gerek yok",
            "X'e ihtiyacım yok",
            // Chinese
            "没必要用X",
            "X 就不用了",
            "禁用X",
            "關閉X",
            "跳过X",
            "这与X无关",
            "不依赖X",
            // Japanese
            "Xを使う必要はない",
            "Xの代わりに手で",
            "Xに頼らずに",
            // Korean
            "X 사용 금지",
            "X는 안 써도 돼",
            "X 안 쓰고",
        ],
        &[Said::Denied],
    );
}

#[test]
fn near_misses_of_stopped_uses_deny_nothing() {
    assert_said(
        &[
            "don't turn off X",
            "don't leave X out",
            "don't leave out X",
            "never switch the X skill off",
            "don't forget about X",
            "turn off the lights with X",
            "turn off the lights and use X",
            "try X out",
            "turn X on",
            "skip to X",
            "why not use X",
            "put the file in its place with X",
            "anything goes but start with X",
            "is this related to X?",
            "it has something to do with X",
            // German
            "lass X nicht weg",
            "lass den X-Skill nicht aus",
            "X nicht weglassen",
            "führe X aus",
            "schalte X ein",
            "ich hoffe, dass du X benutzt",
            "vergiss nicht, dass du X benutzen sollst",
            "verzichte nicht auf X",
            // French
            "n'arrête pas d'utiliser X",
            "n'oublie pas X",
            "il n'est pas inutile d'utiliser X",
            "arrête le serveur avec X",
            "je veux que tu utilises X",
            // Spanish
            "no dejes de usar X",
            "no te olvides de usar X",
            "es necesario usar X",
            "nada mejor que X",
            // Portuguese
            "não pare de usar X",
            "não esqueça o X",
            "quero que você use o X",
            // Italian
            "non smettere di usare X",
            "non dimenticare X",
            "niente di meglio di X",
            "voglio che usi X",
            // Dutch
            "stop niet met X",
            "schakel X in",
            "stop de server met X",
            // Polish
            "nie zapomnij o X",
            "chcę, żebyś używał X",
            // Russian
            "не забудь про X",
            "я хочу, чтобы ты использовал X",
            "не отключай X",
            // Turkish
            "X'e gerek var",
            // Chinese
            "有没有必要用X",
            "不要禁用X",
            "别跳过X",
            "跳到X",
            "关闭窗口用X",
            // Japanese
            "Xを使う必要がある",
            "Xに頼って",
            "sedの代わりにXで",
            // Korean
            "X 안 쓰면 안 돼",
            "X 사용해 줘",
        ],
        &[Said::Weak, Said::Strong, Said::About],
    );
}

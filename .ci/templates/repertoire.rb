class Repertoire < Formula
  desc "Skill engine for LLM agents"
  homepage "@URL@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@URL@/releases/download/v@VERSION@/repertoire-v@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "@URL@/releases/download/v@VERSION@/repertoire-v@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/releases/download/v@VERSION@/repertoire-v@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@aarch64-unknown-linux-gnu@"
    end
    on_intel do
      url "@URL@/releases/download/v@VERSION@/repertoire-v@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@x86_64-unknown-linux-gnu@"
    end
  end

  def install
    bin.install "bin/repertoire"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/repertoire"
    zsh_completion.install "share/zsh/site-functions/_repertoire"
    fish_completion.install "share/fish/vendor_completions.d/repertoire.fish"
  end

  test do
    assert_match "commit-message", shell_output("#{bin}/repertoire list")
  end
end

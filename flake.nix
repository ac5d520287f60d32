{
  description = "Repertoire, a skill engine for LLM agents";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
      manifest = (nixpkgs.lib.importTOML ./Cargo.toml).workspace.package;
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "repertoire";
          version = manifest.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package" "repertoire-cli" "--features" "full" ];
          doCheck = false; # the tests need git, a network and a home
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/repertoire man man1
            installManPage man1/*
          '';
          meta.mainProgram = "repertoire";
        };
      });
    };
}

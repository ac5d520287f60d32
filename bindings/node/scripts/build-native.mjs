// Builds the native module and copies it next to package.json, with the platform in its file name.
import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const release = process.argv.includes('--release');
const args = ['build', '--manifest-path', join(root, 'native/Cargo.toml')];
if (release) args.push('--release');
execFileSync('cargo', args, { stdio: 'inherit' });

const library = {
  linux: 'librepertoire_node.so',
  darwin: 'librepertoire_node.dylib',
  win32: 'repertoire_node.dll',
}[process.platform];
const target = process.env.CARGO_TARGET_DIR ?? join(root, '../target');
const { platformName } = createRequire(import.meta.url)('./platform.cjs');
copyFileSync(
  join(target, release ? 'release' : 'debug', library),
  join(root, `repertoire.${platformName()}.node`),
);

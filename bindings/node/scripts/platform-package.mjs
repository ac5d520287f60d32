// Writes the package with the native module for this platform to target/platform. With `--main DIR`,
// adds the packages in DIR to the optional dependencies of the main package instead.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const main = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const write = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

if (process.argv[2] === '--main') {
  const names = readdirSync(resolve(process.argv[3])).map((dir) => dir.replace(/^node-/, `${main.name}-`));
  if (names.length === 0) throw new Error(`there is no package in ${process.argv[3]}`);
  main.optionalDependencies = Object.fromEntries(names.sort().map((name) => [name, main.version]));
  // The native modules are in those packages, so the main package contains none.
  main.files = main.files.filter((pattern) => !pattern.endsWith('.node'));
  write(join(root, 'package.json'), main);
} else {
  const { platformName } = createRequire(import.meta.url)('./platform.cjs');
  const platform = platformName();
  const [os, cpu, libc] = platform.split('-');
  const file = `repertoire.${platform}.node`;
  if (!existsSync(join(root, file))) throw new Error(`${file} is missing: run \`npm run build:native\` first`);
  const dir = join(root, 'target/platform');
  mkdirSync(dir, { recursive: true });
  copyFileSync(join(root, file), join(dir, file));
  const licenses = ['LICENSE-APACHE', 'LICENSE-MIT'];
  for (const name of licenses) copyFileSync(join(root, '../..', name), join(dir, name));
  const description = `The native module of ${main.name} for ${platform}`;
  writeFileSync(join(dir, 'README.md'), `${description}. npm installs it with \`${main.name}\`, whose page says more.\n`);
  write(join(dir, 'package.json'), {
    name: `${main.name}-${platform}`,
    version: main.version,
    description,
    license: main.license,
    repository: main.repository,
    homepage: main.homepage,
    main: file,
    files: [file, ...licenses],
    os: [os],
    cpu: [cpu],
    ...(os === 'linux' ? { libc: [libc === 'gnu' ? 'glibc' : 'musl'] } : {}),
    engines: main.engines,
  });
}

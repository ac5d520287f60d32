// Every JavaScript block of the docs page and the README runs.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './support.mjs';

for (const page of ['docs/node.md', 'bindings/node/README.md']) {
  test(`the blocks of ${page} run`, () => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const blocks = [...text.matchAll(/^```js\n(.*?)^```/gms)].map(([, block]) => block);
    if (blocks.length === 0) throw new Error('there is no block');
    const place = mkdtempSync(join(tmpdir(), 'repertoire-'));
    const dir = join(place, 'project');
    try {
      mkdirSync(dir);
      begin(page, text, dir);
      mkdirSync(join(dir, 'node_modules'));
      symlinkSync(join(ROOT, 'bindings/node'), join(dir, 'node_modules/repertoire'));
      writeFileSync(join(dir, 'page.mjs'), blocks.join('\n'));
      execFileSync(process.execPath, ['page.mjs'], { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'], timeout: 20_000 });
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
}

// Runs the command of the manual that copies a first skill from the checkout beside the project.
function begin(page, text, dir) {
  if (page === 'bindings/node/README.md') {
    cpSync(join(ROOT, 'skills'), join(dir, 'skills'), { recursive: true });
    return;
  }
  symlinkSync(ROOT, join(dir, '../repertoire'));
  const [, command] = text.match(/^\$ (mkdir -p skills && cp [^#\n]*)/m);
  execFileSync('sh', ['-c', command], { cwd: dir });
}

test('the commands of docs/node.md are those of the package', () => {
  const text = readFileSync(join(ROOT, 'docs/node.md'), 'utf8');
  const { name, version, scripts } = JSON.parse(readFileSync(join(ROOT, 'bindings/node/package.json'), 'utf8'));
  const run = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script);
  const unknown = run.filter((script) => !(script in scripts));
  if (run.length === 0 || unknown.length > 0) throw new Error(`the package has no script ${unknown}`);
  if (!text.includes(`/${name}-${version}.tgz`)) throw new Error(`npm pack writes ${name}-${version}.tgz`);
});

// Every JavaScript block of the docs page and the README runs.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './support.mjs';

for (const page of ['docs/node.md', 'bindings/node/README.md']) {
  test(`the blocks of ${page} run`, () => {
    const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```js\n(.*?)^```/gms)].map(([, block]) => block);
    if (blocks.length === 0) throw new Error('there is no block');
    const dir = mkdtempSync(join(tmpdir(), 'repertoire-'));
    try {
      cpSync(join(ROOT, 'skills/commit-message'), join(dir, 'skills/commit-message'), { recursive: true });
      mkdirSync(join(dir, 'node_modules'));
      symlinkSync(join(ROOT, 'bindings/node'), join(dir, 'node_modules/repertoire'));
      writeFileSync(join(dir, 'page.mjs'), ["import assert from 'node:assert/strict';", ...blocks].join('\n'));
      execFileSync(process.execPath, ['page.mjs'], { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'], timeout: 20_000 });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
}

// Compiles the façade and its types, and adds the entry point for ES modules.
import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
execFileSync(process.execPath, [tsc, '-p', root], { stdio: 'inherit' });
copyFileSync(join(root, 'scripts/platform.cjs'), join(root, 'dist/platform.cjs'));
// npm packs no links, so the package gets copies.
for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) copyFileSync(join(root, '../..', name), join(root, name));

const shown = ['Disclosure', 'Engine', 'RepertoireError', 'Session', 'Skill', 'Tools', 'Turn', 'applyEvent', 'permits', 'preapproved'];
writeFileSync(
  join(root, 'dist/index.mjs'),
  `import native from './index.js';\nexport const { ${shown.join(', ')} } = native;\nexport default native;\n`,
);
writeFileSync(join(root, 'dist/index.d.mts'), "export * from './index.js';\n");

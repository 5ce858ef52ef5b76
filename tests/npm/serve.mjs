// SPDX-License-Identifier: BSD-2-Clause
// Serves a page's files and one profile on a free port of loopback; what is neither is the page.
// Prints the address. usage: node serve.mjs DIRECTORY PROFILE
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const [directory, profile] = process.argv.slice(2);
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
  '.wasm': 'application/wasm', '.svg': 'image/svg+xml', '.png': 'image/png' };

const server = http.createServer((request, response) => {
  const name = path.normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
  let file = name === '/profile.json' ? profile : path.join(directory, name);
  if (!fs.existsSync(file) || !fs.statSync(file).isFile()) {
    file = path.join(directory, 'index.html');
  }
  response.setHeader('Content-Type', types[path.extname(file)] ?? 'application/octet-stream');
  fs.createReadStream(file).pipe(response);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));

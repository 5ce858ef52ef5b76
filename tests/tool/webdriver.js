// SPDX-License-Identifier: BSD-2-Clause
// webdriver.js PORT: passes requests from tests/system/screens.sh on to chromedriver at this port of loopback, over one
// connection. A test asks many hundred times; a process for each question took more time than the browser's answers.
//
// A request on standard input is three texts, each with a NUL after it: VERB, PATH below /session, BODY. The answer on
// standard output is one line:
//   GET, POST, DELETE   chromedriver's answer
//   js                  the value in the answer to POST; quotation marks around a string are left out
//   waits               asks as js does until the value is `true`, at most 60 s; then `true`, or the last value
'use strict';
const http = require('http');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function ask(method, path, body) {
    return new Promise((resolve) => {
        const failed = (error) => resolve(JSON.stringify({ value: { error: 'no answer', message: String(error) } }));
        const sent = Buffer.from(body);
        const headers = sent.length > 0 ? { 'Content-Type': 'application/json', 'Content-Length': sent.length } : {};
        const to = { agent, host: '127.0.0.1', port: process.argv[2], method, path: '/session' + path, headers };
        try {
            const request = http.request(to, (answer) => {
                const parts = [];
                answer.on('data', (part) => parts.push(part));
                answer.on('end', () => resolve(Buffer.concat(parts).toString()));
                answer.on('error', failed);
            });
            request.on('error', failed);
            request.end(sent);
        } catch (error) { // the path has characters that a path cannot have
            failed(error);
        }
    });
}

async function value(path, body) {
    return (await ask('POST', path, body)).replace(/^\{"value":"?/, '').replace(/"?\}$/, '');
}

async function waits(path, body) {
    const end = Date.now() + 60000;
    for (;;) {
        const last = await value(path, body);
        if (last === 'true' || Date.now() > end) {
            return last;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

async function answers() {
    const texts = [];
    let rest = '';
    process.stdin.setEncoding('utf8');
    for await (const part of process.stdin) {
        const read = (rest + part).split('\0');
        rest = read.pop();
        texts.push(...read);
        while (texts.length >= 3) {
            const [verb, path, body] = texts.splice(0, 3);
            const answer = await (verb === 'js' ? value(path, body) : verb === 'waits' ? waits(path, body) : ask(verb, path, body));
            process.stdout.write(answer.replaceAll('\n', ' ') + '\n');
        }
    }
}
answers();

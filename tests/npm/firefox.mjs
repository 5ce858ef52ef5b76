// SPDX-License-Identifier: BSD-2-Clause
// A headless Firefox, driven by its Marionette protocol (a length, ':', JSON), for tests/system/view-firefox.sh: opens an address, and runs each
// script that standard input has on a line in the page, until it returns true. Prints the first that does not; exit status 1.
// usage: node firefox.mjs PROFILE-DIRECTORY ADDRESS PICTURE WIDTH HEIGHT <SCRIPTS
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';

const [profile, address, picture, width, height] = process.argv.slice(2);
const prefs = { 'marionette.port': 0, 'browser.shell.checkDefaultBrowser': false, 'datareporting.policy.dataSubmissionEnabled': false,
  'app.update.enabled': false, 'network.proxy.type': 0, 'network.captive-portal-service.enabled': false, 'browser.aboutwelcome.enabled': false };
fs.mkdirSync(profile, { recursive: true });
fs.writeFileSync(`${profile}/user.js`, Object.entries(prefs).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`).join(''));
const firefox = spawn('firefox-esr', ['--headless', '--marionette', '--no-remote', '--profile', profile, `--width=${width}`, `--height=${height}`], { stdio: 'ignore' });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
process.on('exit', () => firefox.kill());
firefox.on('exit', (status) => { console.log(`firefox-esr ended with ${status}`); process.exit(1); });

const port = `${profile}/MarionetteActivePort`;
while (!fs.existsSync(port) || fs.readFileSync(port, 'utf8') === '') {
  await pause(50);
}
const socket = net.connect(Number(fs.readFileSync(port, 'utf8')), '127.0.0.1'), waiting = new Map();
let bytes = Buffer.alloc(0), number = 0;
socket.on('error', (error) => { console.log(error.message); process.exit(1); });
socket.on('data', (more) => {
  bytes = Buffer.concat([bytes, more]);
  for (let at = bytes.indexOf(58); at > 0 && bytes.length > at + Number(bytes.subarray(0, at)); at = bytes.indexOf(58)) {
    const end = at + 1 + Number(bytes.subarray(0, at)), message = JSON.parse(bytes.subarray(at + 1, end));
    bytes = bytes.subarray(end);
    waiting.get(message[1])?.(message);
  }
});
async function ask(command, parameters = {}) {
  const text = JSON.stringify([0, ++number, command, parameters]);
  const answer = new Promise((done) => waiting.set(number, done));
  socket.write(`${Buffer.byteLength(text)}:${text}`);
  const [, , error, result] = await answer;
  if (error) {
    console.log(`${command}: ${error.message}`);
    process.exit(1);
  }
  return result.value;
}

await ask('WebDriver:NewSession', {});
await ask('WebDriver:Navigate', { url: address });
const scripts = fs.readFileSync(0, 'utf8').split('\n').filter((line) => line !== '');
for (const script of scripts) {
  let is = false;
  for (let tries = 0; tries < 200 && !is; tries++) { // the page's data may still be read
    is = await ask('WebDriver:ExecuteScript', { script: `return Boolean(${script})`, args: [], sandbox: null });
    await pause(is ? 0 : 50);
  }
  if (!is) {
    console.log(`not in time: ${script}`);
    process.exit(1);
  }
}
fs.writeFileSync(picture, Buffer.from(await ask('WebDriver:TakeScreenshot', { full: false }), 'base64'));
firefox.removeAllListeners('exit');
await ask('Marionette:Quit', { flags: ['eForceQuit'] });
console.log(`${scripts.length} scripts`);
process.exit(0);

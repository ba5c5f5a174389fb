// Makes meshopt_vectors.json with the reference encoder and decoder: npm i meshoptimizer@1.3.0, then
// node meshopt_vectors.mjs > meshopt_vectors.json
import { MeshoptEncoder } from 'meshoptimizer';
import { MeshoptDecoder } from 'meshoptimizer';

await MeshoptEncoder.ready;
await MeshoptDecoder.ready;

let seed = 1;
const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 4294967296;
const cases = [];
const base64 = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

function add(name, packed, count, stride, mode, filter, version) {
	const expected = new Uint8Array(count * stride);
	MeshoptDecoder.decodeGltfBuffer(expected, count, stride, packed, mode, filter);
	cases.push({ name, count, stride, mode, filter, version, packed: base64(packed), expected: base64(expected) });
}

const patterns = {
	constant: () => 7,
	ramp: (i) => i & 255,
	noise: () => Math.floor(random() * 256),
	small: () => Math.floor(random() * 3),
	rare: () => (random() < 0.05 ? 200 : 0),
};
for (const [pattern, value] of Object.entries(patterns)) {
	for (const [count, stride] of [[1, 4], [16, 4], [17, 8], [40, 12]]) {
		const source = Uint8Array.from({ length: count * stride }, (_, i) => value(Math.floor(i / stride) * 3 + (i % stride)));
		for (const [level, version] of [[2, 0], [0, 1], [2, 1], [3, 1]]) {
			const packed = MeshoptEncoder.encodeVertexBufferLevel(source, count, stride, level, version);
			add(`${pattern} ${count}x${stride} level ${level}`, packed, count, stride, 'ATTRIBUTES', 'NONE', version);
		}
	}
}
for (const [count, stride] of [[300, 4], [33, 256], [70, 64]]) {
	const source = Uint8Array.from({ length: count * stride }, (_, i) => Math.floor(i / stride) >> 2);
	for (const version of [0, 1]) {
		const packed = MeshoptEncoder.encodeVertexBufferLevel(source, count, stride, 3, version);
		add(`steps ${count}x${stride}`, packed, count, stride, 'ATTRIBUTES', 'NONE', version);
	}
}
const floats = new Float32Array(90).map((_, i) => Math.sin(i / 9) * 3);
const shorts = new Uint16Array(120).map((_, i) => 1000 + i * 37);
for (const [name, array, stride] of [['floats', floats, 12], ['shorts', shorts, 8]]) {
	const source = new Uint8Array(array.buffer);
	for (const version of [0, 1]) {
		const count = source.length / stride;
		const packed = MeshoptEncoder.encodeVertexBufferLevel(source, count, stride, 3, version);
		add(`${name}`, packed, count, stride, 'ATTRIBUTES', 'NONE', version);
	}
}

const grid = [];
for (let y = 0; y < 6; y++)
	for (let x = 0; x < 6; x++) {
		const v = y * 7 + x;
		grid.push(v, v + 1, v + 7, v + 7, v + 1, v + 8);
	}
const scattered = Array.from({ length: 60 }, () => Math.floor(random() * 60000));
const lists = { grid, scattered, fan: Array.from({ length: 20 }, (_, i) => [0, i + 1, i + 2]).flat(), twice: [...grid.slice(0, 60), ...grid.slice(0, 60)] };
for (const [name, list] of Object.entries(lists)) {
	for (const Type of [Uint16Array, Uint32Array]) {
		const source = new Uint8Array(Type.from(list).buffer);
		const stride = Type.BYTES_PER_ELEMENT;
		add(name, MeshoptEncoder.encodeIndexBuffer(source, list.length, stride), list.length, stride, 'TRIANGLES', 'NONE', 0);
		add(name, MeshoptEncoder.encodeIndexSequence(source, list.length, stride), list.length, stride, 'INDICES', 'NONE', 0);
	}
}

const unit = (n) => {
	const out = new Float32Array(n * 4);
	for (let i = 0; i < n; i++) {
		const v = [random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5];
		const length = Math.hypot(...v);
		v.forEach((value, k) => (out[i * 4 + k] = value / length));
	}
	return out;
};
const directions = (n) => {
	const out = unit(n);
	for (let i = 0; i < n; i++) {
		const length = Math.hypot(out[i * 4], out[i * 4 + 1], out[i * 4 + 2]);
		for (let k = 0; k < 3; k++) out[i * 4 + k] /= length;
		out[i * 4 + 3] = i & 1 ? 1 : -1;
	}
	return out;
};
const colours = (n) => Float32Array.from({ length: n * 4 }, random);
const filtered = [
	['OCTAHEDRAL', 4, 8, (n, s, b) => MeshoptEncoder.encodeFilterOct(directions(n), n, s, b)],
	['OCTAHEDRAL', 8, 12, (n, s, b) => MeshoptEncoder.encodeFilterOct(directions(n), n, s, b)],
	['QUATERNION', 8, 14, (n, s, b) => MeshoptEncoder.encodeFilterQuat(unit(n), n, s, b)],
	['EXPONENTIAL', 12, 15, (n, s, b) => MeshoptEncoder.encodeFilterExp(Float32Array.from({ length: n * 3 }, () => (random() - 0.5) * 2000), n, s, b)],
	['COLOR', 4, 8, (n, s, b) => MeshoptEncoder.encodeFilterColor(colours(n), n, s, b)],
	['COLOR', 8, 14, (n, s, b) => MeshoptEncoder.encodeFilterColor(colours(n), n, s, b)],
];
for (const [filter, stride, bits, encode] of filtered) {
	const count = 24;
	const source = encode(count, stride, bits);
	const version = filter === 'COLOR' ? 1 : 0;
	const packed = MeshoptEncoder.encodeVertexBufferLevel(source, count, stride, 2, version);
	add(`${filter} ${stride}`, packed, count, stride, 'ATTRIBUTES', filter, version);
}

console.log('[\n' + cases.map((one) => JSON.stringify(one)).join(',\n') + '\n]');

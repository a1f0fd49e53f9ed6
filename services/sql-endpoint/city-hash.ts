/**
 * CityHash128 of version 1.0.2, which ClickHouse uses as the checksum of its blocks (contrib/cityhash102 of ClickHouse). Later versions of
 * CityHash differ.
 */

const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const K3 = 0xc949d7c7509e6557n;
const MULTIPLIER = 0x9ddfea08eb382d69n;

/** `BigInt.asUintN` around each operation lets V8 calculate in machine words. */
const wrap = (value: bigint) => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint) => wrap(value >> bits) | wrap(value << (64n - bits));
const shiftMix = (value: bigint) => value ^ (value >> 47n);
const times = (one: bigint, other: bigint) => wrap(one * other);

function hash16(low: bigint, high: bigint): bigint {
  const a = shiftMix(times(low ^ high, MULTIPLIER));
  const b = shiftMix(times(high ^ a, MULTIPLIER));
  return times(b, MULTIPLIER);
}

/** Returns the low and the high half of the hash. */
export function cityHash128(bytes: Uint8Array): [low: bigint, high: bigint] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { length } = bytes;
  if (length >= 16) {
    const rest = new DataView(bytes.buffer, bytes.byteOffset + 16, length - 16);
    return withSeed(rest, view.getBigUint64(0, true) ^ K3, view.getBigUint64(8, true));
  }
  if (length >= 8) {
    const low = view.getBigUint64(0, true) ^ times(BigInt(length), K0);
    return withSeed(new DataView(new ArrayBuffer(0)), low, view.getBigUint64(length - 8, true) ^ K1);
  }
  return withSeed(view, K0, K1);
}

function withSeed(view: DataView, low: bigint, high: bigint): [bigint, bigint] {
  const { byteLength } = view;
  if (byteLength < 128) return murmur(view, low, high);
  const word = (at: number) => view.getBigUint64(at, true);
  let x = low;
  let y = high;
  let z = times(BigInt(byteLength), K1);
  let v0 = wrap(times(rotate(y ^ K1, 49n), K1) + word(0));
  let v1 = wrap(times(rotate(v0, 42n), K1) + word(8));
  let w0 = wrap(times(rotate(wrap(y + z), 35n), K1) + x);
  let w1 = times(rotate(wrap(x + word(88)), 53n), K1);
  let at = 0;
  while (byteLength - at >= 128) {
    for (const end = at + 128; at < end; at += 64) {
      x = times(rotate(wrap(wrap(x + y) + wrap(v0 + word(at + 16))), 37n), K1);
      y = times(rotate(wrap(wrap(y + v1) + word(at + 48)), 42n), K1);
      x ^= w1;
      y ^= v0;
      z = rotate(z ^ w0, 33n);
      // Computes the weak hash of 32 bytes, twice.
      const seed = times(v1, K1);
      const first = wrap(seed + word(at));
      const middle = wrap(wrap(first + word(at + 8)) + word(at + 16));
      v1 = wrap(rotate(wrap(wrap(wrap(x + w0) + first) + word(at + 24)), 21n) + rotate(middle, 44n));
      v1 = wrap(v1 + first);
      v0 = wrap(middle + word(at + 24));
      const second = wrap(wrap(z + w1) + word(at + 32));
      const end2 = wrap(wrap(second + word(at + 40)) + word(at + 48));
      w1 = wrap(rotate(wrap(wrap(y + second) + word(at + 56)), 21n) + rotate(end2, 44n));
      w1 = wrap(w1 + second);
      w0 = wrap(end2 + word(at + 56));
      const swapped = z;
      z = x;
      x = swapped;
    }
  }
  y = wrap(y + wrap(times(rotate(w0, 37n), K0) + z));
  x = wrap(x + times(rotate(wrap(v0 + z), 49n), K0));
  const rest = byteLength - at;
  for (let done = 0; done < rest; ) {
    done += 32;
    const from = byteLength - done;
    y = wrap(times(rotate(wrap(y - x), 42n), K0) + v1);
    w0 = wrap(w0 + word(from + 16));
    x = wrap(times(rotate(x, 49n), K0) + w0);
    w0 = wrap(w0 + v0);
    const first = wrap(v0 + word(from));
    const middle = wrap(wrap(first + word(from + 8)) + word(from + 16));
    v1 = wrap(rotate(wrap(wrap(v1 + first) + word(from + 24)), 21n) + rotate(middle, 44n));
    v1 = wrap(v1 + first);
    v0 = wrap(middle + word(from + 24));
  }
  x = hash16(x, v0);
  y = hash16(y, w0);
  return [wrap(hash16(wrap(x + v1), w1) + y), hash16(wrap(x + w1), wrap(y + v1))];
}

function murmur(view: DataView, low: bigint, high: bigint): [bigint, bigint] {
  const { byteLength } = view;
  const word = (at: number) => view.getBigUint64(at, true);
  let a = low;
  let b = high;
  let c: bigint;
  let d: bigint;
  if (byteLength <= 16) {
    a = times(shiftMix(times(a, K1)), K1);
    c = wrap(times(b, K1) + hashUpTo16(view));
    d = shiftMix(wrap(a + (byteLength >= 8 ? word(0) : c)));
  } else {
    c = hash16(wrap(word(byteLength - 8) + K1), a);
    d = hash16(wrap(b + BigInt(byteLength)), wrap(c + word(byteLength - 16)));
    a = wrap(a + d);
    for (let at = 0; at < byteLength - 16; at += 16) {
      a = times(a ^ times(shiftMix(times(word(at), K1)), K1), K1);
      b ^= a;
      c = times(c ^ times(shiftMix(times(word(at + 8), K1)), K1), K1);
      d ^= c;
    }
  }
  a = hash16(a, c);
  b = hash16(d, b);
  return [a ^ b, hash16(b, a)];
}

function hashUpTo16(view: DataView): bigint {
  const { byteLength } = view;
  const length = BigInt(byteLength);
  if (byteLength > 8) {
    const last = view.getBigUint64(byteLength - 8, true);
    return hash16(view.getBigUint64(0, true), rotate(wrap(last + length), length)) ^ last;
  }
  if (byteLength >= 4) {
    const first = BigInt(view.getUint32(0, true));
    return hash16(wrap(length + (first << 3n)), BigInt(view.getUint32(byteLength - 4, true)));
  }
  if (byteLength === 0) return K2;
  const y = BigInt(view.getUint8(0) + (view.getUint8(byteLength >> 1) << 8));
  const z = BigInt(byteLength + (view.getUint8(byteLength - 1) << 2));
  return times(shiftMix(times(y, K2) ^ times(z, K3)), K2);
}

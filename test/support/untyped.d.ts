declare module 'lz4js' {
  const lz4: {
    compress(bytes: Uint8Array): Uint8Array;
    decompressBlock(from: Uint8Array, to: Uint8Array, at: number, length: number, toAt: number): number;
  };
  export default lz4;
}

declare module 'snappyjs' {
  const snappy: { compress(bytes: Uint8Array): Uint8Array };
  export default snappy;
}

declare module 'lz4js' {
  const lz4: { compress(bytes: Uint8Array): Uint8Array; decompress(bytes: Uint8Array): Uint8Array };
  export default lz4;
}

declare module 'snappyjs' {
  const snappy: { compress(bytes: Uint8Array): Uint8Array; uncompress(bytes: Uint8Array): Uint8Array };
  export default snappy;
}

declare module 'kafkajs/src/network/connection.js' {
  const Connection: { prototype: { isConnected(): boolean; connect(): Promise<boolean> } };
  export default Connection;
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  const RequestQueue: { prototype: { pending: unknown[]; scheduleCheckPendingRequests(): void } };
  export default RequestQueue;
}

declare module 'kafkajs/src/consumer/consumerGroup.js' {
  /** The fetch of one partition. */
  export interface Fetched {
    readonly partition: number;
    readonly fetchedOffset: string;
    readonly highWatermark: string;
    readonly rawMessages: readonly unknown[];
    lastOffset(): string;
  }
  export interface ConsumerGroup {
    minBytes: number;
    maxWaitTime: number;
    readonly memberId: string;
    readonly sessionTimeout: number;
    readonly assigners: readonly object[];
    fetch(nodeId: number): Promise<Fetched[]>;
    joinAndSync(): Promise<void>;
    resolveOffset(resolved: { topic: string; partition: number; offset: string }): void;
  }
  const ConsumerGroup: { prototype: ConsumerGroup };
  export default ConsumerGroup;
}

declare module 'kafkajs/src/network/connection.js' {
  const Connection: { prototype: { isConnected(): boolean; connect(): Promise<boolean> } };
  export default Connection;
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  interface RequestQueue {
    pending: unknown[];
    inflight: Map<number, { sentAt: number; requestTimeout: number; timeoutRequest(): void }>;
    requestTimeoutIntervalId: NodeJS.Timeout;
    isConnected(): boolean;
    scheduleCheckPendingRequests(): void;
    scheduleRequestTimeoutCheck(): void;
    destroy(): void;
  }
  const RequestQueue: { prototype: RequestQueue };
  export default RequestQueue;
}

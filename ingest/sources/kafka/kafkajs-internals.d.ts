declare module 'kafkajs/src/consumer/consumerGroup.js' {
  /** The fetch of one partition. */
  export interface Fetched {
    readonly partition: number;
    readonly fetchedOffset: string;
    readonly highWatermark: string;
    readonly rawMessages: readonly unknown[];
  }
  interface ConsumerGroup {
    minBytes: number;
    maxWaitTime: number;
    readonly memberId: string;
    readonly sessionTimeout: number;
    fetch(nodeId: number): Promise<Fetched[]>;
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

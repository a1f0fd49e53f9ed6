declare module 'kafkajs/src/consumer/batch.js' {
  const Batch: {
    prototype: { rawMessages: readonly unknown[]; isEmpty(): boolean; isEmptyDueToFiltering(): boolean };
  };
  export default Batch;
}

declare module 'kafkajs/src/consumer/consumerGroup.js' {
  interface TopicPartitions {
    topic: string;
    partitions: number[];
  }
  export interface ConsumerGroup {
    maxBytes: number;
    readonly assigners: readonly object[];
    getNodeIds(): readonly number[];
    fetch(nodeId: number): Promise<unknown[]>;
    filterPartitionsByNode(nodeId: number, assigned: TopicPartitions[]): TopicPartitions[];
    joinAndSync(): Promise<void>;
    leave(): Promise<void>;
  }
  const ConsumerGroup: { prototype: ConsumerGroup };
  export default ConsumerGroup;
}

declare module 'kafkajs/src/network/connection.js' {
  const Connection: { prototype: { isConnected(): boolean; connect(): Promise<boolean> } };
  export default Connection;
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  const RequestQueue: { prototype: { pending: unknown[]; scheduleCheckPendingRequests(): void } };
  export default RequestQueue;
}

declare module 'kafkajs/src/protocol/requests/metadata/index.js' {
  interface Response {
    parse(metadata: object): Promise<object>;
  }
  /** An empty list means all topics. */
  type Definition = (payload: { topics: readonly string[] }) => { request: object; response: Response };
  const Metadata: { protocol(options: { version: number }): Definition };
  export default Metadata;
}

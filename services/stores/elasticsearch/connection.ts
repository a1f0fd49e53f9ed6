import { constants } from 'node:buffer';
import { errors, UndiciConnection } from '@elastic/elasticsearch';

type RequestArguments = Parameters<UndiciConnection['request']>;
type DispatchOptions = Parameters<UndiciConnection['pool']['dispatch']>[0];

/**
 * Collects each response as it arrives. The library's own method makes a stream and an abort signal per request and reads the stream
 * with an asynchronous iterator, which together takes longer than parsing a page.
 */
export class BufferingConnection extends UndiciConnection {
  override request(...[params, { signal, maxResponseSize }]: RequestArguments): Promise<never> {
    const { method, path, querystring, headers, body } = params;
    const prefix = this.url.pathname.replace(/\/$/, '');
    const options = {
      method,
      path: `${prefix}${path}${querystring ? `?${querystring}` : ''}`,
      headers: { ...this.headers, ...headers },
      body,
    };
    const maxBytes = maxResponseSize ?? constants.MAX_STRING_LENGTH;
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      let head: { statusCode: number; headers: object };
      let onAbort: () => void = () => undefined;
      this.pool.dispatch(options as DispatchOptions, {
        onRequestStart(controller) {
          onAbort = () => controller.abort(new errors.RequestAbortedError('Request aborted'));
          if (signal?.aborted) onAbort();
          else signal?.addEventListener('abort', onAbort);
        },
        onResponseStart(_, statusCode, received) {
          head = { statusCode, headers: received };
        },
        onResponseData(controller, chunk) {
          bytes += chunk.length;
          if (bytes <= maxBytes) chunks.push(chunk);
          else controller.abort(new errors.RequestAbortedError(`The response exceeds ${maxBytes} bytes`));
        },
        onResponseEnd() {
          signal?.removeEventListener('abort', onAbort);
          resolve({ ...head, body: Buffer.concat(chunks, bytes) } as never);
        },
        onResponseError(_, error) {
          signal?.removeEventListener('abort', onAbort);
          reject(connectionError(error));
        },
      });
    });
  }
}

function connectionError(error: Error & { code?: string }): Error {
  if (error instanceof errors.RequestAbortedError) return error;
  if (error.code === 'UND_ERR_HEADERS_TIMEOUT') return new errors.TimeoutError('Request timed out');
  return new errors.ConnectionError(error.message);
}

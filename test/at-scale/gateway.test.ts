import { gatewayContract } from '../gateway/suites/index.js';
import { randomRequests } from '../gateway/suites/random-requests.js';
import { atScale, startAtScaleGateway } from './start-gateway.js';

atScale(() => {
  gatewayContract('Elasticsearch and ClickHouse', startAtScaleGateway);
  randomRequests(250)(startAtScaleGateway);
});

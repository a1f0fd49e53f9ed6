import { gatewayContract } from '../gateway/suites/index.js';
import { randomRequests } from '../gateway/suites/random-requests.js';
import { startAtScaleGateway } from './start-gateway.js';

gatewayContract('Elasticsearch', startAtScaleGateway);
randomRequests(2_000)(startAtScaleGateway);

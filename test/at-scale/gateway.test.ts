import { gatewayContract } from '../gateway/suites/index.js';
import { atScale, startAtScaleGateway } from './start-gateway.js';

atScale(() => gatewayContract('Elasticsearch and ClickHouse', startAtScaleGateway));

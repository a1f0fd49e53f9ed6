import { gatewayContract } from '../gateway/suites/index.js';
import { startAtScaleGateway } from './start-gateway.js';

gatewayContract('Elasticsearch and ClickHouse', startAtScaleGateway);

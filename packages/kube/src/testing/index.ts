export { createFakeApi } from "./fake-api.ts";
export type { FakeApi, FakeApiOptions } from "./fake-api.ts";
export type { FakeCall, FakeFault, FakeVerb } from "./fake-calls.ts";
export {
  conflictError,
  namespaceTerminatingError,
  notFoundError,
  notServedError,
  serverError,
  tooManyRequestsError,
} from "./errors.ts";
export { createElector } from "../leader-election/elector.ts";
export { readElectionTimes } from "../leader-election/settings.ts";
export { createServerHistory } from "../client/server-history.ts";

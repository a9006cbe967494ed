export { createFakeApi } from "./fake-api.ts";
export type { FakeApi, FakeApiOptions } from "./fake-api.ts";
export type { FakeCall, FakeFault, FakeVerb } from "./fake-calls.ts";
export { conflictError, notFoundError, notServedError, serverError, tooManyRequestsError } from "./errors.ts";
export { createServerHistory } from "../client/server-history.ts";

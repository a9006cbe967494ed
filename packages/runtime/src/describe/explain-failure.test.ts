import { isConfigError } from "@millwright/base";
import { ApiError } from "@millwright/kube";
import { notFoundError, notServedError, serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { explainFailure, isUnservedKind } from "./explain-failure.ts";

const forbidden = new ApiError({ status: 403, reason: "Forbidden", message: "pods is forbidden" });
const unauthorized = new ApiError({ status: 401, reason: "Unauthorized", message: "Unauthorized" });
const unreachable = new ApiError({ status: 0, reason: "Unreachable", message: "GET /api: connect ECONNREFUSED" });

describe("explainFailure", () => {
  it.each([
    ["missing permissions", forbidden, /^pods is forbidden; this needs get on pods$/],
    [
      "missing credentials",
      unauthorized,
      /^the API server does not accept the credentials of the kubeconfig: Unauthorized$/,
    ],
    [
      "a server that is not there",
      unreachable,
      /^the API server is unreachable: GET \/api: connect ECONNREFUSED; check the server of the kubeconfig/,
    ],
    [
      "one whose error states it",
      new ApiError({ status: 0, reason: "Unreachable", message: "GET /api: the API server is unreachable: reset" }),
      /^GET \/api: the API server is unreachable: reset; check/,
    ],
    ["a server that is not well", serverError(), /^the API server is unreachable: /],
    ["a kind that is not served", notServedError(), /: .* run "millwright crds apply"$/],
  ])("explains %s in one line", (_, error, expected) => {
    const explained = explainFailure(error, "this needs get on pods");
    expect(isConfigError(explained) && explained.message).toMatch(expected);
    expect(explained).toMatchObject({ cause: error });
    expect(explainFailure(explained, "")).toBe(explained);
  });

  it.each([
    ["an object that is not there", notFoundError()],
    ["a bug", new TypeError("x")],
  ])("leaves %s alone", (_, error) => {
    expect(explainFailure(error, "")).toBe(error);
  });
});

it("distinguishes kinds that are not served from objects that do not exist", () => {
  expect([notServedError(), notFoundError(), forbidden].map(isUnservedKind)).toEqual([true, false, false]);
});

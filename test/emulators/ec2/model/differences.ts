import type { Exchange } from "../../server/index.ts";
import { answerProblems } from "./check-answer.ts";
import { parameterProblems } from "./check-parameters.ts";
import { exceptions, type ModelException } from "./exceptions.ts";
import { operationModel } from "./operations.ts";

/** Differences of a request or response of EC2 or STS from the models in AWS's SDK, without the exceptions of the table. */
export function modelDifferences(
  { operation, request, reply }: Exchange,
  allowed: readonly ModelException[] = exceptions,
): readonly string[] {
  const model = operationModel(operation);
  if (model === undefined) return operation === "" ? [] : [`there is no operation ${operation}`];
  const problems = [
    ...parameterProblems(model, request.body),
    ...(reply === undefined ? [] : answerProblems(model, reply.status, reply.body)),
  ];
  return problems.filter(
    (problem) => !allowed.some((row) => row.operation === operation && row.difference.test(problem)),
  );
}

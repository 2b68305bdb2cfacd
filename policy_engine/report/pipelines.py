"""Checks in each of the forms that pipelines read."""

from collections.abc import Sequence

from policy_engine.report.checks import CheckedFile


def pipeline_text(form: str, command: str, files: Sequence[CheckedFile], summary: str) -> str:
    """The checks of a command as `sarif`, `github`, `junit` or `markdown`, for which there is a summary.

    Raises KeyError for any other form.
    """
    match form:
        case "sarif":
            from policy_engine.report.sarif import sarif_json

            return f"{sarif_json(command, files)}\n"
        case "github":
            from policy_engine.report.github_annotations import annotations

            return annotations(files)
        case "junit":
            from policy_engine.report.junit_xml import junit_xml

            return junit_xml(command, files)
        case "markdown":
            from policy_engine.report.findings_markdown import findings_markdown

            return findings_markdown(summary, files)
        case _:
            raise KeyError(form)

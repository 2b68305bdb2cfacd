"""The URLs that moto's `batch` answers, and those of quota management: our responses answer all of them."""

from moto.batch.urls import url_bases
from moto.batch.urls import url_paths as moto_url_paths

from policy_engine.emulator.batch.responses import QuotaManagementResponse

_OPERATIONS = (
    *("createserviceenvironment", "describeserviceenvironments"),
    *("updateserviceenvironment", "deleteserviceenvironment"),
    *("createquotashare", "describequotashare", "updatequotashare", "listquotashares", "deletequotashare"),
    *("submitservicejob", "describeservicejob", "listservicejobs", "updateservicejob"),
    *("terminateservicejob", "terminateservicejobs", "getjobqueuesnapshot"),
)

url_paths = {
    **dict.fromkeys(moto_url_paths, QuotaManagementResponse.dispatch),
    **{f"{{0}}/v1/{operation}$": QuotaManagementResponse.dispatch for operation in _OPERATIONS},
    "{0}/v1/tags/(?P<arn>.+)$": QuotaManagementResponse.dispatch,
}

__all__ = ["url_bases", "url_paths"]

"""AWS Batch's events on the account's default event bus, and from there to the targets of rules.

moto delivers to queues, log groups, archives and other buses. Topics are ours: the constructs' rules go to one.
"""

import copy
import json
import logging
from datetime import UTC, datetime
from typing import Any

from moto.events.models import EventBus, Rule, events_backends
from moto.events.utils import EventMessageType, EventTemplateParser
from moto.moto_api._internal import mock_random
from moto.sns.models import sns_backends
from moto.utilities.arns import parse_arn

_logger = logging.getLogger(__name__)


class AccountEvents:
    """The events of an account and region. Says once of each target that it cannot be delivered to, and why."""

    def __init__(self, account_id: str, region_name: str) -> None:
        self._account_id = account_id
        self._region_name = region_name
        self._told: set[str] = set()

    def send(self, *, at: int, detail_type: str, resource: str, detail: dict[str, Any]) -> None:
        """Send an event of AWS Batch, of a moment in ms since 1970, to all that have a rule on it."""
        bus: EventBus = events_backends[self._account_id][self._region_name].event_buses["default"]
        event: EventMessageType = {
            "version": "0",
            "id": str(mock_random.uuid4()),
            "detail-type": detail_type,
            "source": "aws.batch",
            "account": self._account_id,
            "time": at / 1000,
            "ingestion-time": at / 1000,
            "region": self._region_name,
            "resources": [resource],
            "detail": detail,
        }
        for rule in bus.rules.values():
            if rule.state == "ENABLED" and rule.event_pattern.matches_event(event):
                for target in rule.targets:
                    self._deliver(rule, target, copy.deepcopy(event))

    def _deliver(self, rule: Rule, target: dict[str, Any], event: EventMessageType) -> None:
        try:
            if parse_arn(target["Arn"]).service == "sns":
                _publish(target, event)
            else:
                # moto sends to all targets of a rule, and stops at the first that it does not know.
                alone = copy.copy(rule)
                alone.targets = [target]
                alone.send_to_targets(event)
        except NotImplementedError:
            self._tell(f"the emulator delivers no events to {target['Arn']}")
        except Exception as error:  # noqa: BLE001 (nothing that a target does stops AWS Batch)
            self._tell(f"an event could not be delivered to {target['Arn']}: {error}")

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            _logger.warning("%s", text)


def _publish(target: dict[str, Any], event: EventMessageType) -> None:
    arn = parse_arn(target["Arn"])
    moment = datetime.fromtimestamp(float(event["time"]), UTC)
    event["time"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    template = target.get("InputTransformer")
    if template is None:
        told: object = {name: value for name, value in event.items() if name != "ingestion-time"}
    else:
        told = EventTemplateParser.parse(template["InputTemplate"], template.get("InputPathsMap", {}), event)
    message = told if isinstance(told, str) else json.dumps(told)
    sns_backends[arn.account][arn.region].publish(arn=target["Arn"], message=message)

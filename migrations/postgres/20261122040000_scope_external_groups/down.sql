-- The documents get the tag of the earlier schema.
UPDATE document SET revision = revision + 1, pending = 'attributes'
WHERE (pending IS NULL OR pending <> 'removal')
    AND id IN (SELECT document_id FROM external_access WHERE group_keys <> '[]');

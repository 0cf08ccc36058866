-- A group of an external system opens documents only together with the pair that told it: the
-- documents that name one get its new tag in the index. Until then nobody reads them through it.
UPDATE document SET revision = revision + 1, pending = 'attributes'
WHERE (pending IS NULL OR pending <> 'removal')
    AND id IN (SELECT document_id FROM external_access WHERE group_keys <> '[]');
